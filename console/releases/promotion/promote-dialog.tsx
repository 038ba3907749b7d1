import { useState } from "react";
import type { Flow, ReleaseDetails } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { reasonsOf, usePlans } from "../../board/moves/plan.ts";
import { broughtAlong } from "../../board/moves/brought-along.ts";
import { Badge } from "../../components/badge.tsx";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import { cardsOf } from "../../text/counted.ts";
import { ruleWords } from "../../text/rule.ts";
import { toggled } from "../toggled.ts";
import { isBefore, laterStages, nextStage, skippedBy, whyNotPromoted, type Stage } from "./stages.ts";

type Card = ReleaseDetails["cards"][number];

/** How many of the chosen cards are checked for refusals: each check reads GitHub. */
const MAX_CHECKED = 20;

interface Props {
  readonly release: ReleaseDetails;
  readonly flow: Flow;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onPromote: (statusId: string, numbers: readonly number[]) => void;
}

/** Asks which cards of the release move into which stage. */
export function PromoteDialog({ release, flow, open, onClose, onPromote }: Props) {
  const { board } = useWorkspace();
  const stages = laterStages(release, flow);
  const [chosenId, setStageId] = useState<string | null>(null);
  const stageId = chosenId ?? nextStage(release, flow, board.role)?.id ?? "";
  // Cards before the stage are chosen unless they are in `left`, the other ones if they are in `back`.
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const [back, setBack] = useState<ReadonlySet<number>>(new Set());
  const stage = stages.find(({ id }) => id === stageId);
  const isChosen = (card: Card): boolean =>
    isBefore(card, flow, stageId) ? !left.has(card.number) : back.has(card.number);
  const toggle = (card: Card): void =>
    (isBefore(card, flow, stageId) ? setLeft : setBack)((before) => toggled(before, card.number));
  const numbers = release.cards.filter(isChosen).map(({ number }) => number);
  const checked = new Set(numbers.slice(0, MAX_CHECKED));
  const choose = (id: string | null): void => {
    setStageId(id);
    setBack(new Set());
  };
  const close = (): void => {
    choose(null);
    onClose();
  };
  return (
    <ConfirmDialog
      open={open}
      onClose={close}
      title={`Promote ${release.name}`}
      confirm={`Promote ${cardsOf(numbers.length)}${stage ? ` to ${stage.name}` : ""}`}
      isBusy={false}
      lacking={whyNotPromoted(release, flow) ?? lackingIn(stage, numbers)}
      error={null}
      onConfirm={() => {
        onPromote(stageId, numbers);
        close();
      }}
    >
      <p>
        The cards move one after the other. A card that is refused stays in its stage, and the others move.
      </p>
      {stages.length > 0 && (
        <fieldset className="release-choice">
          <legend>Into the stage</legend>
          {stages.map((each) => {
            const isAllowed = hasRole(board.role, each.minRole);
            return (
              <label key={each.id} className="release-option">
                <input
                  type="radio"
                  name="stage"
                  checked={each.id === stageId}
                  disabled={!isAllowed}
                  onChange={() => choose(each.id)}
                />
                <span className="release-option-text">
                  <bdi>{each.name}</bdi>{" "}
                  <span className="release-hint">
                    {isAllowed ? ruleWords(each.rule) : `Moves to this stage need the role ${each.minRole}.`}
                  </span>
                </span>
              </label>
            );
          })}
        </fieldset>
      )}
      {stage?.rule.type === "merge" && (
        <p className="release-warning">A merge changes a shared branch and cannot be undone.</p>
      )}
      {[...broughtAlong(flow, stageId), ...skippedBy(release, flow, stageId, numbers)].map((each) => (
        <p className="release-warning" key={each}>
          {each}
        </p>
      ))}
      <fieldset className="release-choice">
        <legend>Cards</legend>
        {release.cards.map((card) => (
          <div key={card.number}>
            <label className="release-option">
              <input type="checkbox" checked={isChosen(card)} onChange={() => toggle(card)} />
              <span dir="auto">
                <span className="release-card-number mono">#{card.number}</span> {card.title}
              </span>
              <StageOf flow={flow} statusId={card.statusId} targetId={stageId} />
            </label>
            {stage && checked.has(card.number) && <Forecast number={card.number} stageId={stage.id} />}
          </div>
        ))}
        {checked.size < numbers.length && (
          <p className="release-hint">Only the first {MAX_CHECKED} cards are checked for refusals.</p>
        )}
      </fieldset>
    </ConfirmDialog>
  );
}

function lackingIn(stage: Stage | undefined, numbers: readonly number[]): string | null {
  if (!stage) return "Choose a stage.";
  return numbers.length === 0 ? "Choose a card." : null;
}

interface ForecastProps {
  readonly number: number;
  readonly stageId: string;
}

/** Why the card would be refused now; nothing if it would move. */
function Forecast({ number, stageId }: ForecastProps) {
  const plan = usePlans(number, [stageId]).get(stageId)?.plan;
  if (!plan || plan.wouldMove) return null;
  return (
    <p className="release-forecast" dir="auto">
      Would be refused now: {reasonsOf(plan).join(" ")}
    </p>
  );
}

interface StageOfProps {
  readonly flow: Flow;
  /** Where the card is; null if it is deleted. */
  readonly statusId: string | null;
  readonly targetId: string;
}

/** The stage that a card is in, and whether the promotion moves it back from there. */
function StageOf({ flow, statusId, targetId }: StageOfProps) {
  const at = flow.stages.findIndex(({ id }) => id === statusId);
  const target = flow.stages.findIndex(({ id }) => id === targetId);
  const name = flow.stages[at]?.name ?? (statusId === null ? "deleted" : "a removed stage");
  return (
    <span className="release-hint">
      <bdi>{name}</bdi> {target !== -1 && target < at && <Badge tone="warning">would move back</Badge>}
    </span>
  );
}
