import { useRef, useState, type FormEvent, type ReactNode } from "react";
import type { CardSnapshot } from "../../api/reads.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { editorKeys } from "./editor-keys.ts";
import { usePatchCard } from "./use-patch-card.ts";

interface Props {
  readonly card: CardSnapshot;
  readonly mayEdit: boolean;
}

export function DueDateField({ card, mayEdit }: Props) {
  const { patch } = usePatchCard(card);
  const { dueDate } = card;
  return (
    <TypedProperty
      name="Due date"
      type="date"
      mayEdit={mayEdit}
      value={dueDate ?? ""}
      shown={dueDate === null ? <span className="property-none">none</span> : <Day date={dueDate} />}
      onSave={(typed) => patch({ dueDate: typed === "" ? null : typed }, "Due date changed")}
    />
  );
}

/** A date of the calendar, without a time zone. */
const Day = ({ date }: { readonly date: string }) => (
  <time dateTime={date}>
    {new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" }).format(new Date(date))}
  </time>
);

export function ParentField({ card, mayEdit, parent }: Props & { readonly parent: ReactNode }) {
  const { patch } = usePatchCard(card);
  return (
    <TypedProperty
      name="Parent"
      type="number"
      mayEdit={mayEdit}
      value={card.parentNumber === null ? "" : String(card.parentNumber)}
      shown={parent}
      onSave={(typed) => patch({ parentNumber: typed === "" ? null : Number(typed) }, "Parent changed")}
    />
  );
}

interface TypedProps {
  readonly name: string;
  readonly type: "date" | "number";
  readonly mayEdit: boolean;
  readonly value: string;
  readonly shown: ReactNode;
  readonly onSave: (typed: string) => void;
}

/** A property that is typed; an empty one removes it. */
function TypedProperty({ name, type, mayEdit, value, shown, onSave }: TypedProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setTyped(null);
    setTimeout(() => button.current?.focus());
  };
  const save = (): void => {
    if (typed !== null && typed !== value) onSave(typed);
    close();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save();
  };
  return (
    <div className="property">
      <dt>{name}</dt>
      <dd>
        {typed === null ? (
          <span className="property-shown">
            {shown}
            {mayEdit && (
              <Button
                kind="quiet"
                ref={button}
                aria-label={`Change: ${name}`}
                onClick={() => setTyped(value)}
              >
                <Icon name="edit" />
              </Button>
            )}
          </span>
        ) : (
          <form
            className="property-form"
            onSubmit={submit}
            onKeyDown={editorKeys({ onSave: save, onCancel: close })}
          >
            <Field
              label={name}
              isLabelHidden
              type={type}
              min={type === "number" ? 1 : undefined}
              value={typed}
              autoFocus
              onChange={(event) => setTyped(event.target.value)}
            />
            <Button type="submit" aria-label={`Save: ${name}`}>
              <Icon name="check" />
            </Button>
            <Button kind="quiet" aria-label={`Cancel: ${name}`} onClick={close}>
              <Icon name="close" />
            </Button>
          </form>
        )}
      </dd>
    </div>
  );
}
