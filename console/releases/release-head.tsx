import { Link } from "wouter";
import type { Flow, ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Ago } from "../text/time.tsx";
import { Progress } from "./progress.tsx";
import { StateBadge } from "./state-badge.tsx";

/** Says how many cards of a completed release are in the last stage, if not all of them are. */
function finishedText(finished: number, total: number): string {
  if (total === 1) return "The card is not in the last stage now.";
  const some = finished === 0 ? `None of the ${total} cards` : `${finished} of ${total} cards`;
  return `${some} ${finished <= 1 ? "is" : "are"} in the last stage now.`;
}

/** The name of a release, its state and dates, and how many of its cards are done. */
export function ReleaseHead({ release, flow }: { readonly release: ReleaseDetails; readonly flow: Flow }) {
  const { base } = useWorkspace();
  const { name, cards, createdByName, createdAt, frozenAt, completedAt, missingCount } = release;
  const { search } = window.location;
  const done = new Set(flow.stages.filter(({ kind }) => kind === "done").map(({ id }) => id));
  const isCompleted = completedAt !== null;
  const finished = cards.filter(({ statusId }) => statusId !== null && done.has(statusId)).length;
  return (
    <header className="release-head">
      <Link href={`${base}/releases${search}`} className="release-back">
        Releases
      </Link>
      <div className="release-title">
        <h1 dir="auto">{name}</h1>
        <StateBadge release={release} />
      </div>
      <p className="release-hint">
        created by <bdi>{createdByName}</bdi> <Ago at={createdAt} />
        {frozenAt !== null && (
          <>
            , frozen <Ago at={frozenAt} />
          </>
        )}
        {completedAt !== null && (
          <>
            , completed <Ago at={completedAt} />
          </>
        )}
      </p>
      {cards.length > 0 && (
        <Progress
          label={isCompleted ? "Cards in the release" : "Progress of the release"}
          value={isCompleted ? cards.length - missingCount : finished}
          total={cards.length}
          state={isCompleted ? "in this release" : "done"}
        />
      )}
      {isCompleted && finished < cards.length && (
        <p className="release-hint">{finishedText(finished, cards.length)}</p>
      )}
    </header>
  );
}
