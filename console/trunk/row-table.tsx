import { Link } from "wouter";
import { useWorkspace } from "../api/workspace.tsx";
import { ExternalLink, gitHubPages, shortSha } from "../card/git/external-link.tsx";
import { Badge } from "../components/badge.tsx";
import type { ChartData, Delivered, Landing, Row } from "./series.ts";
import { useAddress } from "../shell/use-project.ts";

interface Props {
  readonly chart: ChartData;
  /** The index of the row that was chosen in the chart. */
  readonly picked: number | null;
}

/** The values of a chart. Days without any value are left out. */
export function RowTable({ chart, picked }: Props) {
  const { title, of, series, rows, shape } = chart;
  const shown = rows
    .map((row, index) => ({ row, index }))
    .filter(
      ({ row, index }) => shape === "points" || index === picked || row.values.some((value) => value > 0),
    );
  return (
    <div className="trunk-table-frame" tabIndex={0} role="group" aria-label={`Table: ${title}`}>
      <table className="trunk-table" data-span={chart.span !== null || undefined}>
        <thead>
          <tr>
            <th scope="col">{of}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="trunk-number">
                {name}
              </th>
            ))}
            <th scope="col">Cards and commits</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ row, index }) => (
            <tr
              key={`${row.label} ${row.x}`}
              data-row={row.label}
              data-picked={index === picked || undefined}
              tabIndex={index === picked ? -1 : undefined}
            >
              <th scope="row">
                <RowName row={row} />
              </th>
              {row.values.map((value, at) => (
                <td key={series[at]?.name} className="trunk-number">
                  {value}
                </td>
              ))}
              <td>
                <Behind row={row} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RowName({ row: { label, releaseId } }: { readonly row: Row }) {
  const addressOf = useAddress();
  return releaseId === undefined ? label : <Link href={addressOf(`/releases/${releaseId}`)}>{label}</Link>;
}

function Behind({ row }: { readonly row: Row }) {
  const { landings = [], delivered = [], promised = [], values, releaseId } = row;
  if (landings.length + delivered.length + promised.length === 0) {
    const isListedElsewhere = releaseId !== undefined && values.some((value) => value > 0);
    return <span className="trunk-note">{isListedElsewhere ? "listed in the release" : "none"}</span>;
  }
  return (
    <ul className="trunk-items">
      {landings.map((landing) => (
        <LandingItem key={`${landing.fullName} ${landing.branchName} ${landing.sha}`} landing={landing} />
      ))}
      {delivered.map((card) => (
        <DeliveredItem key={card.number} card={card} />
      ))}
      {promised.map((card) => (
        <li key={card.number}>
          <CardLink card={card} />
        </li>
      ))}
    </ul>
  );
}

function CardLink({ card }: { readonly card: { readonly number: number; readonly title: string } }) {
  const { base } = useWorkspace();
  return (
    <Link href={`${base}/cards/${card.number}`} dir="auto">
      #{card.number} {card.title}
    </Link>
  );
}

/** A commit or pull request on a trunk. */
export function LandingItem({ landing }: { readonly landing: Landing }) {
  const { session } = useWorkspace();
  const { fullName, branchName, sha, title, author, prNumber, card, reverts, via } = landing;
  const pages = gitHubPages(session.forgeUrl, fullName);
  return (
    <li data-landing={sha}>
      <ExternalLink href={pages.commit(sha)} className="mono">
        {shortSha(sha)}
      </ExternalLink>{" "}
      <span dir="auto">{title}</span>{" "}
      <span className="trunk-note">
        {prNumber !== null && (
          <>
            <ExternalLink href={pages.pull(prNumber)}>pull request {prNumber}</ExternalLink>{" "}
          </>
        )}
        {author !== null && (
          <>
            by <bdi>{author}</bdi>{" "}
          </>
        )}
        on {fullName} {branchName}
      </span>{" "}
      {via === "outside" && <Badge tone="warning">outside</Badge>}
      {via === "earlier" && <Badge>before this project</Badge>}{" "}
      {reverts !== null && <Badge tone="danger">reverts {shortSha(reverts)}</Badge>}{" "}
      {card && <CardLink card={card} />}
    </li>
  );
}

function DeliveredItem({ card }: { readonly card: Delivered }) {
  const { session } = useWorkspace();
  return (
    <li>
      <CardLink card={card} />{" "}
      <span className="trunk-note">
        {card.repositories.map(({ fullName, prNumber, targetBranch }) => (
          <span key={`${fullName} ${prNumber}`}>
            <ExternalLink href={gitHubPages(session.forgeUrl, fullName).pull(prNumber)}>
              {fullName} #{prNumber}
            </ExternalLink>{" "}
            into {targetBranch}{" "}
          </span>
        ))}
      </span>
    </li>
  );
}
