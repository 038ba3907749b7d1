import { useId, useRef, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Select } from "../../components/select.tsx";
import type { DraftStage } from "./draft.ts";
import { useStageDrag } from "./use-stage-drag.ts";
import { isRestricted, roleToEnter, ROLES, RULES } from "./words.ts";

interface Props {
  readonly stage: DraftStage;
  readonly at: number;
  readonly count: number;
  /** Why the service refused the stage. */
  readonly faults: readonly string[];
  readonly onChange: (changes: Partial<DraftStage>) => void;
  readonly onMove: (to: number) => void;
  readonly onRemove: () => void;
}

/** The fields of a stage. The backlog has a name only: every new card enters it. */
export function StageFields({ stage, at, count, faults, onChange, onMove, onRemove }: Props) {
  const { key, name, rule, gates } = stage;
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
              min={1}
              max={10_000}
              placeholder="none"
              value={gates.wipLimit ?? ""}
              onChange={(event) =>
                onChange({
                  gates: {
                    ...gates,
                    wipLimit: event.target.value === "" ? null : Math.trunc(event.target.valueAsNumber),
                  },
                })
              }
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
              text="Someone other than the author must move cards here"
              hint="Whoever wrote or pushed the commits of a card may not, nor the owner of an agent that did."
              isOn={gates.secondPerson}
              onChange={(secondPerson) => onChange({ gates: { ...gates, secondPerson } })}
            />
            {at < count - 1 && isRestricted(stage) && (
              <p className="field-hint">
                Cards can skip this stage. Restrict who may enter the later stages, too.
              </p>
            )}
          </div>
        </>
      )}
      {faults.map((fault) => (
        <p key={fault} className="flow-fault" role="alert">
          {fault}
        </p>
      ))}
    </li>
  );
}

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
