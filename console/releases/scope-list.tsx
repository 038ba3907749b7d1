import { Link } from "wouter";
import type { ListedCard, ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Refusal } from "../card-chip/refusal.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Ago } from "../text/time.tsx";
import type { PickProblem } from "./picks/use-picks.ts";

type ScopeCard = ReleaseDetails["cards"][number];

export interface ScopeActions {
  /** Null where cards cannot be removed. */
  readonly onRemove: ((card: ScopeCard) => void) | null;
  readonly onPick: (number: number) => void;
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
  /** Those of `missing` of which nothing is merged. */
  readonly unmerged: ReadonlySet<number>;
  /** Cards that can be picked. */
  readonly pickable: ReadonlySet<number>;
  readonly isCompleted: boolean;
}

/**
 * The cards of a release, with what GitHub refused about each of them. A completed release shows what it
 * contained: the stage of a card and its refusals have changed since.
 */
export const ScopeList = ({
  cards,
  refused,
  problems,
  missing,
  unmerged,
  pickable,
  isCompleted,
  ...rest
}: Props) => (
  <ul className="release-cards">
    {cards.map((card) => (
      <Row
        key={card.number}
        card={card}
        blocked={isCompleted ? null : (refused.get(card.number)?.blocked ?? null)}
        problem={isCompleted ? undefined : problemOf(card, problems)}
        isMissing={missing.has(card.number)}
        isUnmerged={unmerged.has(card.number)}
        isPickable={pickable.has(card.number)}
        isCompleted={isCompleted}
        {...rest}
      />
    ))}
  </ul>
);

/** Why a card was not picked, while it is in the same stage as then: a move may have removed the cause. */
function problemOf({ number, statusId }: ScopeCard, problems: Props["problems"]): PickProblem | undefined {
  const problem = problems.get(number);
  return problem?.statusId === undefined || problem.statusId === statusId ? problem : undefined;
}

interface RowProps extends ScopeActions {
  readonly card: ScopeCard;
  readonly blocked: ListedCard["blocked"];
  readonly problem: PickProblem | undefined;
  readonly isMissing: boolean;
  readonly isUnmerged: boolean;
  readonly isPickable: boolean;
  readonly isCompleted: boolean;
  readonly stageName: (id: string) => string;
}

function Row({
  card,
  blocked,
  problem,
  isMissing,
  isUnmerged,
  isPickable,
  isCompleted,
  stageName,
  ...actions
}: RowProps) {
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
            <Badge tone="warning">
              {isCompleted
                ? "not in this release"
                : isUnmerged
                  ? "not merged yet"
                  : "not on the release branch"}
            </Badge>
          )}
          {statusId === null ? <Badge>deleted</Badge> : !isCompleted && <Badge>{stageName(statusId)}</Badge>}
          {pickedAt !== null && (
            <span className="release-hint">
              added <Ago at={pickedAt} />
            </span>
          )}
        </span>
        {isPickable && (
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
