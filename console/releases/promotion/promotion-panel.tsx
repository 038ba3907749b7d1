import { Link } from "wouter";
import type { PromotionOutcome } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Refusal } from "../../card-chip/refusal.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Problem } from "../problem.tsx";
import { Progress } from "../progress.tsx";
import { resultOf, type Promotion } from "./use-promotion.ts";

interface Props {
  readonly promotion: Promotion;
  /** The name of the stage that the cards move into. */
  readonly stage: string;
  readonly titleOf: (number: number) => string | undefined;
  readonly mayCancel: boolean;
}

/** The progress of a promotion: what happened to each card, and what GitHub refused. */
export function PromotionPanel({ promotion, stage, titleOf, mayCancel }: Props) {
  const { outcome, isRunning, isCancelled, operationId, error } = promotion;
  if (!outcome && !isRunning && error === null) return null;
  const total = outcome ? countOf(outcome) : 0;
  return (
    <section className="release-panel" aria-labelledby="promotion">
      <div className="release-panel-head">
        <h2 id="promotion">
          Promotion to <bdi>{stage}</bdi>
        </h2>
        {isRunning ? (
          mayCancel && (
            <Button kind="danger" isBusy={isCancelled || operationId === null} onClick={promotion.cancel}>
              {isCancelled ? "Cancelling…" : "Cancel the rest"}
            </Button>
          )
        ) : (
          <Button kind="quiet" onClick={promotion.close}>
            Close
          </Button>
        )}
      </div>
      <Problem error={error} />
      {isRunning && (
        <>
          <Progress
            label="Progress of the promotion"
            value={total - (outcome?.pending.length ?? 0)}
            total={total}
          />
          {isCancelled && <p className="release-hint">The card that is being moved now still finishes.</p>}
        </>
      )}
      {!isRunning && outcome && <p className="release-hint">{resultOf(outcome)}.</p>}
      {outcome && <Results outcome={outcome} stage={stage} titleOf={titleOf} />}
    </section>
  );
}

const countOf = ({ promoted, refused, skipped, pending }: PromotionOutcome): number =>
  promoted.length + refused.length + skipped.length + pending.length;

const SKIPPED: Readonly<Record<PromotionOutcome["skipped"][number]["reason"], string>> = {
  already_there: "was there already",
  being_moved: "is being moved by somebody else",
  cancelled: "not moved: the promotion was cancelled",
  deleted: "was deleted",
  not_permitted: "not moved: the role on the board does not allow it",
  stage_removed: "not moved: the stage was removed",
};

function Results({
  outcome,
  stage,
  titleOf,
}: { outcome: PromotionOutcome } & Pick<Props, "stage" | "titleOf">) {
  const { promoted, refused, skipped, pending } = outcome;
  const each = { titleOf };
  return (
    <ul className="release-results">
      {refused.map((card) => (
        <Result key={card.number} number={card.number} {...each}>
          <Refusal stage={stage} blocked={{ reasons: [{ ...card, repository: card.repository ?? "" }] }} />
        </Result>
      ))}
      {promoted.map(({ number, promoted: merges }) => (
        <Result key={number} number={number} {...each}>
          <Badge tone="success">
            {merges.length === 0
              ? "moved"
              : `merged ${merges.map(({ prNumber, targetBranch }) => `#${prNumber} into ${targetBranch}`).join(", ")}`}
          </Badge>
        </Result>
      ))}
      {skipped.map(({ number, reason }) => (
        <Result key={number} number={number} {...each}>
          <Badge>{SKIPPED[reason]}</Badge>
        </Result>
      ))}
      {pending.map((number) => (
        <Result key={number} number={number} {...each}>
          <Badge>waits</Badge>
        </Result>
      ))}
    </ul>
  );
}

interface ResultProps {
  readonly number: number;
  readonly titleOf: Props["titleOf"];
  readonly children: React.ReactNode;
}

function Result({ number, titleOf, children }: ResultProps) {
  const { base } = useWorkspace();
  return (
    <li className="release-result" data-result={number}>
      <Link href={`${base}/cards/${number}`} className="release-card-link" dir="auto">
        <span className="release-card-number mono">#{number}</span> {titleOf(number)}
      </Link>
      {children}
    </li>
  );
}
