import { useState } from "react";
import type { Flow, ReleaseDetails } from "../../api/schema.d.ts";
import { hasRole, type Role } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { ConfirmDialog } from "../confirm-dialog.tsx";
import { cardsOf } from "../../text/counted.ts";
import { ruleWords } from "../../text/rule.ts";

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
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const stage = stages.find(({ id }) => id === stageId);
  const numbers = release.cards.map(({ number }) => number).filter((number) => !left.has(number));
  const toggle = (number: number): void =>
    setLeft((before) =>
      before.has(number)
        ? new Set([...before].filter((each) => each !== number))
        : new Set([...before, number]),
    );
  const close = (): void => {
    setStageId(null);
    onClose();
  };
  return (
    <ConfirmDialog
      open={open}
      onClose={close}
      title={`Promote ${release.name}`}
      confirm={`Promote ${cardsOf(numbers.length)}${stage ? ` to ${stage.name}` : ""}`}
      isBusy={false}
      lacking={lackingIn(stages, stage, numbers)}
      error={null}
      onConfirm={() => {
        onPromote(stageId, numbers);
        close();
      }}
    >
      <p>
        The cards move one after the other. A card that GitHub refuses stays in its stage, and the others
        move.
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
                  onChange={() => setStageId(each.id)}
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
      <fieldset className="release-choice">
        <legend>Cards</legend>
        {release.cards.map(({ number, title, statusId }) => (
          <label key={number} className="release-option">
            <input type="checkbox" checked={!left.has(number)} onChange={() => toggle(number)} />
            <span dir="auto">
              <span className="release-card-number mono">#{number}</span> {title}
            </span>
            <StageOf flow={flow} statusId={statusId} targetId={stageId} />
          </label>
        ))}
      </fieldset>
    </ConfirmDialog>
  );
}

type Stage = Flow["stages"][number];

/** The places in the flow that the cards of the release have. */
const placesOf = ({ cards }: ReleaseDetails, { stages }: Flow): number[] =>
  cards.map(({ statusId }) => stages.findIndex(({ id }) => id === statusId));

/** The stages that at least one card of the release has before it. */
const laterStages = (release: ReleaseDetails, flow: Flow): readonly Stage[] =>
  flow.stages.slice(Math.max(0, Math.min(...placesOf(release, flow))) + 1);

/** The first stage after those of all cards, if the user may move cards there. */
function nextStage(release: ReleaseDetails, flow: Flow, role: Role): Stage | undefined {
  const next = flow.stages[Math.max(0, ...placesOf(release, flow)) + 1];
  return next && hasRole(role, next.minRole) ? next : undefined;
}

function lackingIn(
  offered: readonly Stage[],
  stage: Stage | undefined,
  numbers: readonly number[],
): string | null {
  if (offered.length === 0) return "All cards are in the last stage, so there is nothing to promote.";
  if (!stage) return "Choose a stage.";
  return numbers.length === 0 ? "Choose a card." : null;
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
