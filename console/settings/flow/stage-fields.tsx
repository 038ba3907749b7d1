import { useId, useRef, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Select } from "../../components/select.tsx";
import type { StageFaults } from "./check-draft.ts";
import type { DraftStage } from "./draft.ts";
import { laterNames, type Skip } from "./skips.ts";
import "./stage-fields.css";
import { useStageDrag } from "./use-stage-drag.ts";
import { roleToEnter, ROLES, RULES } from "./words.ts";

interface Props {
  readonly stage: DraftStage;
  readonly at: number;
  readonly count: number;
  readonly faults: StageFaults;
  /** Why the service refused the stage. */
  readonly refusals: readonly string[];
  /** The conditions of the stage that cards avoid by a move past it. */
  readonly skips: readonly Skip[];
  readonly onChange: (changes: Partial<DraftStage>) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
  /** Sets a condition of the stage in the later stages, too. */
  readonly onClose: (skip: Skip) => void;
}

/** The fields of a stage. The backlog has a name only: every new card enters it. */
export function StageFields(props: Props) {
  const { stage, at, count, faults, refusals, skips, onChange, onMove, onRemove, onClose } = props;
  const { key, id, name, rule, gates } = stage;
  const item = useRef<HTMLLIElement>(null);
  const handle = useRef<HTMLSpanElement>(null);
  const edge = useStageDrag({ item, handle, stageKey: key, at });
  const [wasLeft, setWasLeft] = useState(false);
  const isBacklog = at === 0;
  return (
    <li
      className="flow-stage"
      ref={item}
      data-stage={key}
      data-edge={edge ?? undefined}
      data-rule={rule.type}
    >
      <div
        className="flow-stage-fields"
        role="group"
        aria-label={name.trim() || (id === null ? "New stage" : `Stage ${at + 1}`)}
      >
        <div className="flow-stage-head">
          <span
            className="flow-handle"
            ref={handle}
            data-fixed={isBacklog || undefined}
            title="Drag to reorder"
            aria-hidden="true"
          >
            ⠿
          </span>
          <Field
            label={`Name of stage ${at + 1}`}
            isLabelHidden
            placeholder="Name of the stage"
            value={name}
            maxLength={60}
            dir="auto"
            error={wasLeft && name.trim() === "" ? "A stage needs a name." : undefined}
            onBlur={() => setWasLeft(true)}
            onChange={(event) => onChange({ name: event.target.value })}
          />
          {isBacklog ? (
            <span className="flow-stage-kind">backlog</span>
          ) : (
            <Places
              name={name || `stage ${at + 1}`}
              at={at}
              count={count}
              onMove={onMove}
              onRemove={onRemove}
            />
          )}
        </div>
        {!isBacklog && (
          <>
            <div className="flow-stage-rule">
              <Select
                label="Entering it"
                value={rule.type}
                choices={RULES}
                error={faults.rule}
                onChoose={(type) => onChange({ rule: { type, into: type === "merge" ? rule.into : null } })}
              />
              {rule.type === "merge" && (
                <Field
                  label="Merges into"
                  placeholder="the default branch"
                  maxLength={255}
                  value={rule.into ?? ""}
                  onChange={(event) => onChange({ rule: { ...rule, into: event.target.value || null } })}
                />
              )}
              <Select
                label="Who may enter"
                value={roleToEnter(stage)}
                choices={ROLES}
                onChoose={(minRole) => onChange({ minRole })}
              />
              <Field
                label="Card limit"
                type="number"
                placeholder="none"
                value={gates.wipLimit ?? ""}
                error={faults.wipLimit}
                onChange={(event) => onChange({ gates: { ...gates, wipLimit: limitIn(event.target) } })}
              />
            </div>
            <div className="flow-stage-gates">
              <Gate
                text="Only people may move cards here"
                hint="API keys may not."
                isOn={gates.humanOnly}
                onChange={(humanOnly) => onChange({ gates: { ...gates, humanOnly } })}
              />
              <Gate
                text="A second person must move cards here"
                hint="Whoever wrote or pushed the commits of a card may not, nor the owner of an agent that did."
                isOn={gates.secondPerson}
                onChange={(secondPerson) => onChange({ gates: { ...gates, secondPerson } })}
              />
            </div>
            {skips.map((skip) => (
              <SkipWarning key={skip.whom} skip={skip} onClose={() => onClose(skip)} />
            ))}
          </>
        )}
        {refusals.map((refusal) => (
          <p key={refusal} className="flow-fault" role="alert">
            {refusal}
          </p>
        ))}
      </div>
    </li>
  );
}

/** The number in a field, null if it is empty. What is not a number counts as 0, which no limit can be. */
const limitIn = ({ value, valueAsNumber, validity }: HTMLInputElement): number | null => {
  if (validity.badInput) return 0;
  return value === "" ? null : Math.trunc(valueAsNumber);
};

/** Says that a condition does not hold for cards that are moved past its stage, and offers to change that. */
const SkipWarning = ({ skip, onClose }: { readonly skip: Skip; readonly onClose: () => void }) => (
  <div className="settings-caution flow-skip">
    <p role="status" dir="auto">
      {skip.text}
    </p>
    <Button onClick={onClose}>Also require it for {laterNames(skip)}</Button>
  </div>
);

interface PlacesProps extends Pick<Props, "at" | "count" | "onMove" | "onRemove"> {
  readonly name: string;
}

/** The place of a stage in the order, without a mouse. */
const Places = ({ name, at, count, onMove, onRemove }: PlacesProps) => (
  <div className="flow-stage-actions">
    <Button
      kind="quiet"
      data-move="up"
      aria-label={`Move ${name} up`}
      title="Move up"
      aria-disabled={at <= 1}
      onClick={() => onMove(at - 1)}
    >
      <Icon name="up" />
    </Button>
    <Button
      kind="quiet"
      data-move="down"
      aria-label={`Move ${name} down`}
      title="Move down"
      aria-disabled={at >= count - 1}
      onClick={() => onMove(at + 1)}
    >
      <Icon name="down" />
    </Button>
    <Button kind="quiet" aria-label={`Remove ${name}`} title="Remove the stage" onClick={onRemove}>
      <Icon name="close" />
    </Button>
  </div>
);

interface GateProps {
  readonly text: string;
  readonly hint: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Gate({ text, hint, isOn, onChange }: GateProps) {
  const hintId = useId();
  return (
    <div className="flow-gate">
      <label>
        <input
          type="checkbox"
          aria-describedby={hintId}
          checked={isOn}
          onChange={(event) => onChange(event.target.checked)}
        />
        {text}
      </label>
      <p id={hintId} className="field-hint">
        {hint}
      </p>
    </div>
  );
}
