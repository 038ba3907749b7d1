import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef } from "react";
import type { CardSnapshot } from "../../api/reads.ts";
import type { MovePlan } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { SECOND_PERSON } from "../../board/gates.ts";
import { readPlan } from "../../board/moves/plan.ts";
import { broughtAlong } from "../../board/moves/brought-along.ts";
import { skippedMerges } from "../../board/moves/skipped-merges.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { messageOf } from "../../api/problem.ts";
import { Armed } from "./armed.tsx";
import { Plan, type Stage } from "./plan.tsx";
import type { CardMove } from "./use-card-move.ts";
import { cardsOf } from "../../text/counted.ts";
import { ruleWords } from "../../text/rule.ts";
import "./next-move.css";

interface Props {
  readonly card: CardSnapshot;
  readonly stages: readonly Stage[];
  readonly move: CardMove;
  readonly isExpanded: boolean;
  readonly onExpandedChange: (isExpanded: boolean) => void;
}

/** What the next stage would do with the card, and all other stages on demand. */
export function NextMove({ card, stages, move, isExpanded, onExpandedChange }: Props) {
  const at = stages.findIndex(({ id }) => id === card.statusId);
  const next = stages[at + 1];
  const others = stages.filter((stage) => stage.id !== card.statusId && stage !== next);
  const { board } = useWorkspace();
  const list = useRef<HTMLUListElement>(null);
  const wasExpanded = useRef(isExpanded);
  useEffect(() => {
    if (isExpanded && !wasExpanded.current) list.current?.querySelector("button")?.focus();
    wasExpanded.current = isExpanded;
  }, [isExpanded]);
  const each = { card, move, stages };
  return (
    <section className="panel next-move" aria-labelledby="next-move">
      <h2 id="next-move">Next move</h2>
      {move.problem !== null && (
        <p className="form-problem" role="alert">
          {move.problem}
        </p>
      )}
      {card.armed && (
        <Armed
          armed={card.armed}
          card={card}
          stageName={stages.find(({ id }) => id === card.armed?.statusId)?.name ?? "a removed stage"}
          mayCancel={hasRole(board.role, "member")}
        />
      )}
      <ul ref={list} className="next-move-stages">
        {next ? (
          <StagePlan {...each} stage={next} isNext />
        ) : (
          <li className="next-move-end">The card is in the last stage.</li>
        )}
        {isExpanded && others.map((stage) => <StagePlan key={stage.id} {...each} stage={stage} />)}
      </ul>
      {others.length > 0 && (
        <Button
          kind="quiet"
          className="next-move-more"
          aria-expanded={isExpanded}
          aria-keyshortcuts="m"
          onClick={() => onExpandedChange(!isExpanded)}
        >
          {isExpanded ? "Only the next stage" : "Move to another stage…"}
        </Button>
      )}
    </section>
  );
}

interface StageProps extends Pick<Props, "card" | "move" | "stages"> {
  readonly stage: Stage;
  readonly isNext?: boolean;
}

function StagePlan({ card, stage, stages, move, isNext = false }: StageProps) {
  const { board, client, keys } = useWorkspace();
  // The key of the board's plans: both screens share what GitHub said.
  const {
    data: plan,
    error,
    refetch,
  } = useQuery({
    queryKey: keys.cardPart(card.number, "move-plan", stage.id),
    queryFn: () => readPlan(client, card.number, stage.id),
    retry: false,
  });
  const mayMove = hasRole(board.role, stage.minRole);
  const isMoving = move.pendingId === stage.id;
  const verdictId = useId();
  const isAgainst = plan !== undefined && !plan.wouldMove;
  const verb = isMoving ? "Moving to" : isAgainst ? "Try to move to" : "Move to";
  return (
    <li className="stage-plan" data-merges={stage.rule.type === "merge" || undefined}>
      <div className="stage-plan-head">
        <h3>
          <bdi>{stage.name}</bdi>
        </h3>
        <span className="stage-plan-rule">{ruleWords(stage.rule)}</span>
        <Gates stage={stage} />
      </div>
      {plan ? (
        <Plan
          plan={plan}
          stage={stage}
          hasBranch={card.repositories.some(({ branchName }) => branchName !== null)}
          notes={[
            ...skippedMerges(stages, card.statusId, stage.id),
            ...(card.hotfix || plan.steps.length === 0 ? [] : broughtAlong({ stages }, stage.id)),
          ]}
          verdictId={verdictId}
        />
      ) : error ? (
        <p className="plan-certainty" data-against>
          {messageOf(error)}{" "}
          <Button kind="quiet" onClick={() => void refetch()}>
            Try again
          </Button>
        </p>
      ) : (
        <p className="plan-certainty" role="status">
          Asking GitHub what would happen…
        </p>
      )}
      {mayMove && plan && isWorthWaiting(plan) && card.armed?.statusId !== stage.id && (
        <Button isBusy={move.pendingId !== null} onClick={() => move.ask(stage, true)}>
          <Icon name="clock" />
          <span>
            Move to <bdi>{stage.name}</bdi> when ready
          </span>
        </Button>
      )}
      {mayMove ? (
        <Button
          kind={isNext && plan?.wouldMove ? "primary" : "secondary"}
          aria-describedby={plan && verdictId}
          isBusy={move.pendingId !== null}
          onClick={() => move.ask(stage)}
        >
          <Icon name={stage.rule.type === "merge" ? "merge" : "move"} />
          <span>
            {verb} <bdi>{stage.name}</bdi>
            {isMoving && "…"}
          </span>
        </Button>
      ) : (
        <p className="plan-certainty">Moves to this stage need the role {stage.minRole}.</p>
      )}
    </li>
  );
}

const Gates = ({ stage: { gates } }: { readonly stage: Stage }) =>
  gates ? (
    <>
      {gates.wipLimit !== null && <Badge>at most {cardsOf(gates.wipLimit)}</Badge>}
      {gates.humanOnly && <Badge>people only</Badge>}
      {gates.secondPerson && <Badge>{SECOND_PERSON}</Badge>}
    </>
  ) : null;

/** Whether a move when ready waits for something other than checks that nothing requires and that may not exist. */
const isWorthWaiting = ({ whenReady }: MovePlan): boolean =>
  whenReady.waitingFor.some(
    (reason) => !(reason.reason === "checks_pending" && reason.details.pending === undefined),
  );
