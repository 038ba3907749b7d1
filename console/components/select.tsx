import { Field as Base } from "@base-ui/react/field";
import type { SelectHTMLAttributes } from "react";
import { FieldError } from "./field.tsx";

interface Props<Value extends string> extends Omit<
  SelectHTMLAttributes<HTMLSelectElement>,
  "value" | "onChange"
> {
  readonly label: string;
  readonly hint?: string;
  /** What is wrong with the choice. */
  readonly error?: string | undefined;
  /** Keeps the label for assistive technology only. */
  readonly isLabelHidden?: boolean;
  readonly value: Value;
  readonly choices: readonly (readonly [value: Value, text: string])[];
  readonly onChoose: (value: Value) => void;
}

/** One of a few choices, with its label. */
export function Select<Value extends string>(props: Props<Value>) {
  const { label, hint, error, isLabelHidden = false, choices, onChoose, ...select } = props;
  return (
    <Base.Root className="field" invalid={error !== undefined}>
      <Base.Label className={isLabelHidden ? "visually-hidden" : "field-label"}>{label}</Base.Label>
      <Base.Control
        className="field-control"
        render={
          <select {...select} onChange={(event) => onChoose(event.target.value as Value)}>
            {choices.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        }
      />
      {hint !== undefined && <Base.Description className="field-hint">{hint}</Base.Description>}
      <FieldError error={error} />
    </Base.Root>
  );
}
