import { useRef, useState } from "react";
import { editorKeys } from "../../card/edit/editor-keys.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Problem } from "../problem.tsx";
import { Colors, type Color } from "./colors.tsx";

export interface TagFields {
  readonly name: string;
  readonly color: Color;
  readonly description: string;
}

interface Props {
  readonly title: string;
  readonly initial: TagFields;
  readonly hasDescription: boolean;
  readonly maxName: number;
  readonly action: string;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** Resolves to whether it was saved. */
  readonly onSave: (fields: TagFields) => Promise<boolean>;
  readonly onCancel: () => void;
}

/** The form of a label or feature. */
export function TagForm(props: Props) {
  const { title, initial, hasDescription, maxName, action, isBusy, error, onSave, onCancel } = props;
  const [fields, setFields] = useState(initial);
  const set = (changes: Partial<TagFields>): void => setFields({ ...fields, ...changes });
  const [isTried, setIsTried] = useState(false);
  const name = useRef<HTMLInputElement>(null);
  const isBlank = fields.name.trim() === "";
  const save = async (): Promise<void> => {
    setIsTried(true);
    if (isBlank) {
      name.current?.focus();
      return;
    }
    if (await onSave({ ...fields, name: fields.name.trim() })) onCancel();
  };
  return (
    <form
      className="settings-form"
      aria-label={title}
      onKeyDown={editorKeys({ onSave: () => void save(), onCancel })}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field
        label="Name"
        autoFocus
        value={fields.name}
        maxLength={maxName}
        dir="auto"
        ref={name}
        error={isTried && isBlank ? "A name is needed." : undefined}
        onChange={(event) => set({ name: event.target.value })}
      />
      {hasDescription && (
        <Field
          label="Description"
          value={fields.description}
          maxLength={20_000}
          dir="auto"
          onChange={(event) => set({ description: event.target.value })}
        />
      )}
      <Colors value={fields.color} onChoose={(color) => set({ color })} />
      <Problem error={error} />
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {action}
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
