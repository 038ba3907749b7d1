import { Field as Base } from "@base-ui/react/field";
import type { InputHTMLAttributes, Ref, TextareaHTMLAttributes } from "react";
import "./field.css";

interface Common {
  readonly label: string;
  readonly hint?: string;
  /** What is wrong with the value. */
  readonly error?: string | undefined;
  /** Keeps the label for assistive technology only. */
  readonly isLabelHidden?: boolean;
}

type InputProps = Common & InputHTMLAttributes<HTMLInputElement> & { readonly ref?: Ref<HTMLInputElement> };
type AreaProps = Common &
  TextareaHTMLAttributes<HTMLTextAreaElement> & { readonly ref?: Ref<HTMLTextAreaElement> };

/** A line of text with its label. */
export const Field = ({ label, hint, error, isLabelHidden, ...input }: InputProps) => (
  <Frame label={label} hint={hint} error={error} isLabelHidden={isLabelHidden}>
    <Base.Control {...input} className="field-control" render={<input />} />
  </Frame>
);

/** Several lines of text with their label. */
export const TextArea = ({ label, hint, error, isLabelHidden, ref, ...area }: AreaProps) => (
  <Frame label={label} hint={hint} error={error} isLabelHidden={isLabelHidden}>
    <Base.Control className="field-control field-area" render={<textarea rows={4} {...area} ref={ref} />} />
  </Frame>
);

interface FrameProps {
  readonly label: string;
  readonly hint: string | undefined;
  readonly error: string | undefined;
  readonly isLabelHidden: boolean | undefined;
  readonly children: React.ReactNode;
}

const Frame = ({ label, hint, error, isLabelHidden, children }: FrameProps) => (
  <Base.Root className="field" invalid={error !== undefined}>
    <Base.Label className={isLabelHidden ? "visually-hidden" : "field-label"}>{label}</Base.Label>
    {children}
    {hint !== undefined && <Base.Description className="field-hint">{hint}</Base.Description>}
    <FieldError error={error} />
  </Base.Root>
);

/** What is wrong with the value of a field. It is announced when it appears. */
export const FieldError = ({ error }: { readonly error: string | undefined }) => (
  <Base.Error className="field-error" role="alert" match={error !== undefined}>
    {error}
  </Base.Error>
);
