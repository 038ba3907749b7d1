import { Link } from "wouter";
import { useRefusals } from "../../api/reads.ts";
import type { Flow, PromotionOutcome, ReleaseDetails } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Refusal } from "../../card-chip/refusal.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Problem } from "../problem.tsx";
import { Progress } from "../progress.tsx";
import type { Stage } from "./stages.ts";
import { resultOf, type Promotion } from "./use-promotion.ts";

interface Props {
  readonly promotion: Promotion;
  readonly release: ReleaseDetails;
  readonly flow: Flow;
}

/** The progress of a promotion: what happened to each card, and what GitHub refused. */
export function PromotionPanel({ promotion, release, flow }: Props) {
  const { board } = useWorkspace();
  const { outcome, isRunning, isCancelled, operationId, error } = promotion;
  const target = flow.stages.find(({ id }) => id === promotion.statusId);
  const stage = target?.name ?? "a removed stage";
  const mayCancel = hasRole(board.role, "member") && hasRole(board.role, target?.minRole ?? "member");
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
      {outcome && (
        <Results
          outcome={outcome}
          stage={stage}
          statusId={promotion.statusId}
          release={release}
          flow={flow}
        />
      )}
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

interface ResultsProps extends Pick<Props, "release" | "flow"> {
  readonly outcome: PromotionOutcome;
  /** The stage that the cards move into. */
  readonly statusId: string | null;
  /** Its name. */
  readonly stage: string;
}

function Results({ outcome, stage, statusId, release, flow }: ResultsProps) {
  const { promoted, refused, skipped, pending } = outcome;
  // A refusal is current while the card has it; a move or the end of its cause removes it.
  const refusals = useRefusals(release.projectId);
  const cardOf = (number: number) => release.cards.find((card) => card.number === number);
  const each = { titleOf: (number: number) => cardOf(number)?.title };
  return (
    <ul className="release-results">
      {refused.map((card) => (
        <Result key={card.number} number={card.number} {...each}>
          {refusals.get(card.number)?.blocked?.statusId === statusId ? (
            <Refusal stage={stage} blocked={{ reasons: [{ ...card, repository: card.repository ?? "" }] }} />
          ) : (
            <Badge>{pastRefusal(flow.stages.find(({ id }) => id === cardOf(card.number)?.statusId))}</Badge>
          )}
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

/** Says that a card was refused, and where it is now. */
const pastRefusal = (stage: Stage | undefined): string =>
  stage === undefined ? "refused then" : `refused then, now in ${stage.name}`;

interface ResultProps {
  readonly number: number;
  readonly titleOf: (number: number) => string | undefined;
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
