import { Link } from "wouter";
import type { ListedCard, ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Refusal } from "../card-chip/refusal.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Ago } from "../text/time.tsx";
import type { PickProblem } from "./use-picks.ts";

type ScopeCard = ReleaseDetails["cards"][number];

export interface ScopeActions {
  /** Null where cards cannot be removed. */
  readonly onRemove: ((card: ScopeCard) => void) | null;
  /** Null where cards cannot be picked. */
  readonly onPick: ((number: number) => void) | null;
  readonly isBusy: boolean;
  readonly picking: number | null;
}

interface Props extends ScopeActions {
  readonly cards: readonly ScopeCard[];
  readonly stageName: (id: string) => string;
  /** Cards whose last move was refused. */
  readonly refused: ReadonlyMap<number, ListedCard>;
  readonly problems: ReadonlyMap<number, PickProblem>;
  /** Cards whose work is not on the branches of the frozen release, or not in the completed release. */
  readonly missing: ReadonlySet<number>;
  readonly isCompleted: boolean;
}

/**
 * The cards of a release, with what GitHub refused about each of them. A completed release shows what it
 * contained: the stage of a card and its refusals have changed since.
 */
export const ScopeList = ({ cards, refused, problems, missing, isCompleted, ...rest }: Props) => (
  <ul className="release-cards">
    {cards.map((card) => (
      <Row
        key={card.number}
        card={card}
        blocked={isCompleted ? null : (refused.get(card.number)?.blocked ?? null)}
        problem={isCompleted ? undefined : problems.get(card.number)}
        isMissing={missing.has(card.number)}
        isCompleted={isCompleted}
        {...rest}
      />
    ))}
  </ul>
);

interface RowProps extends ScopeActions {
  readonly card: ScopeCard;
  readonly blocked: ListedCard["blocked"];
  readonly problem: PickProblem | undefined;
  readonly isMissing: boolean;
  readonly isCompleted: boolean;
  readonly stageName: (id: string) => string;
}

function Row({ card, blocked, problem, isMissing, isCompleted, stageName, ...actions }: RowProps) {
  const { onRemove, onPick, isBusy, picking } = actions;
  const { base } = useWorkspace();
  const { number, title, statusId, pickedAt } = card;
  return (
    <li className="release-card" data-scope={number}>
      <div className="release-card-main">
        <Link href={`${base}/cards/${number}`} className="release-card-link" dir="auto">
          <span className="release-card-number mono">#{number}</span> {title}
        </Link>
        <span className="release-card-facts">
          {isMissing && (
            <Badge tone="warning">{isCompleted ? "not in this release" : "not on the release branch"}</Badge>
          )}
          {statusId === null ? <Badge>deleted</Badge> : !isCompleted && <Badge>{stageName(statusId)}</Badge>}
          {pickedAt !== null && (
            <span className="release-hint">
              picked <Ago at={pickedAt} />
            </span>
          )}
        </span>
        {onPick && pickedAt === null && (
          <Button
            kind={isMissing ? "secondary" : "quiet"}
            isBusy={isBusy}
            aria-label={`Pick card ${number} onto the release branch`}
            onClick={() => onPick(number)}
          >
            {picking === number ? "Picking…" : "Pick"}
          </Button>
        )}
        {onRemove && (
          <Button
            kind="quiet"
            isBusy={isBusy}
            aria-label={`Remove card ${number} from the release`}
            onClick={() => onRemove(card)}
          >
            Remove
          </Button>
        )}
      </div>
      {problem && <PickRefusalNote problem={problem} />}
      {blocked && <Refusal blocked={blocked} stage={stageName(blocked.statusId)} />}
    </li>
  );
}

export const PickRefusalNote = ({ problem }: { readonly problem: PickProblem }) => (
  <div role="alert">
    <Refusal title="Not picked" blocked={{ reasons: [{ reason: "unknown", ...problem }] }} />
  </div>
);
