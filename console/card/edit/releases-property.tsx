import { Link } from "wouter";
import { useRead } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { StateBadge } from "../../releases/state-badge.tsx";
import { useAddress } from "../../shell/use-project.ts";

/** The releases that a card is in, each with a link; nothing if there are none. Live. */
export function ReleasesProperty({ number }: { readonly number: number }) {
  const { keys } = useWorkspace();
  const addressOf = useAddress();
  const { data: releases = [] } = useRead(
    keys.releasesOfCard(number),
    "GET /console/v1/cards/{number}/releases",
    { path: { number } },
  );
  if (releases.length === 0) return null;
  return (
    <div className="property">
      <dt>Release</dt>
      <dd>
        <ul>
          {releases.map((release) => (
            <li key={release.id} className="property-shown property-labels">
              <Link href={addressOf(`/releases/${release.id}`)}>
                <bdi>{release.name}</bdi>
              </Link>
              <StateBadge release={release} />
              {release.isMissing && <Badge tone="warning">without this card</Badge>}
            </li>
          ))}
        </ul>
      </dd>
    </div>
  );
}
