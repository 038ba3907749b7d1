import { useRef, useState, type ReactNode } from "react";
import { LabelBadge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { Icon } from "../../components/icon.tsx";
import type { Color } from "./colors.tsx";
import { TagForm, type TagFields } from "./tag-form.tsx";
import { cardsOf } from "../../text/counted.ts";

interface Tag {
  readonly id: string;
  readonly name: string;
  readonly color: Color;
  readonly taskCount: number;
  readonly description?: string;
}

interface Write<Argument> {
  readonly run: (argument: Argument) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly reset: () => void;
}

interface ListProps<T extends Tag> {
  /** `label` or `feature`. */
  readonly noun: string;
  readonly tags: readonly T[];
  readonly maxName: number;
  readonly hasDescription?: boolean;
  readonly mayEdit: boolean;
  readonly mayDelete: boolean;
  readonly create: Write<TagFields>;
  readonly change: Write<{ readonly id: string; readonly fields: TagFields }>;
  readonly remove: Write<T>;
  /** What deleting does to the cards. */
  readonly consequence: (count: number) => string;
  /** More about a tag, and more buttons. */
  readonly note?: (tag: T) => ReactNode;
  readonly actions?: (tag: T, at: number) => ReactNode;
}

const NEW: TagFields = { name: "", color: "gray", description: "" };

/** Labels or features, each changed in its place. */
export function TagList<T extends Tag>(props: ListProps<T>) {
  const { noun, tags, maxName, hasDescription = false, mayEdit, create } = props;
  const [isNew, setIsNew] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    create.reset();
    setIsNew(false);
    setTimeout(() => button.current?.focus());
  };
  return (
    <>
      {tags.length === 0 ? (
        <p className="settings-faint">The board has no {noun}s yet.</p>
      ) : (
        <ul className="settings-rows" aria-label={`${noun}s`}>
          {tags.map((tag, at) => (
            <Row key={tag.id} {...props} tag={tag} at={at} />
          ))}
        </ul>
      )}
      {mayEdit && isNew && (
        <TagForm
          title={`New ${noun}`}
          initial={NEW}
          hasDescription={hasDescription}
          maxName={maxName}
          action={`Create the ${noun}`}
          isBusy={create.isBusy}
          error={create.error}
          onSave={create.run}
          onCancel={close}
        />
      )}
      {mayEdit && !isNew && (
        <Button ref={button} className="settings-add" onClick={() => setIsNew(true)}>
          <Icon name="plus" />
          New {noun}
        </Button>
      )}
    </>
  );
}

function Row<T extends Tag>(props: ListProps<T> & { readonly tag: T; readonly at: number }) {
  const { noun, tag, at, mayEdit, mayDelete, change, maxName, hasDescription = false, note, actions } = props;
  const [isEditing, setIsEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { id, name, color, description = "" } = tag;
  const close = (): void => {
    change.reset();
    setIsEditing(false);
    setTimeout(() => button.current?.focus());
  };
  if (isEditing)
    return (
      <li className="settings-row">
        <TagForm
          title={`Edit the ${noun} ${name}`}
          initial={{ name, color, description }}
          hasDescription={hasDescription}
          maxName={maxName}
          action="Save"
          isBusy={change.isBusy}
          error={change.error}
          onSave={(fields) => change.run({ id, fields })}
          onCancel={close}
        />
      </li>
    );
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <LabelBadge label={tag} /> <span className="settings-faint">{cardsOf(tag.taskCount)}</span>
        {note?.(tag)}
      </div>
      <div className="settings-row-actions">
        {actions?.(tag, at)}
        {mayEdit && (
          <Button kind="quiet" ref={button} aria-label={`Edit ${name}`} onClick={() => setIsEditing(true)}>
            <Icon name="edit" />
          </Button>
        )}
        {mayDelete && <Delete {...props} />}
      </div>
    </li>
  );
}

function Delete<T extends Tag>({ noun, tag, remove, consequence }: ListProps<T> & { readonly tag: T }) {
  const [isAsking, setIsAsking] = useState(false);
  const close = (): void => {
    remove.reset();
    setIsAsking(false);
  };
  return (
    <>
      <Button kind="quiet" aria-label={`Delete ${tag.name}`} onClick={() => setIsAsking(true)}>
        <Icon name="close" />
      </Button>
      <Confirm
        open={isAsking}
        title={`Delete ${tag.name}?`}
        action={`Delete the ${noun}`}
        isBusy={remove.isBusy}
        error={isAsking ? remove.error : null}
        onCancel={close}
        onConfirm={() => void remove.run(tag).then((isDone) => isDone && close())}
      >
        <p>{consequence(tag.taskCount)}</p>
      </Confirm>
    </>
  );
}
