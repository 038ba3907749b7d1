import { useEffect, useRef, type ReactNode } from "react";
import type { CardSnapshot } from "../../api/reads.ts";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { useTitleLinks } from "../../pages/page-link.tsx";
import { Markdown } from "../../text/markdown.tsx";
import { Conflict } from "./conflict.tsx";
import { EditorForm, useEndOfEdit } from "./editor-form.tsx";
import { MarkdownEditor } from "./markdown-editor.tsx";
import type { CardTextField } from "./use-card-text.ts";
import type { TextEdit } from "./use-text-edit.ts";

interface Props {
  readonly card: CardSnapshot;
  readonly edit: TextEdit<CardTextField>;
  readonly mayEdit: boolean;
  /** Between title and text: why the last move was refused. */
  readonly children: ReactNode;
}

/** The title and the text of a card, or the form that edits them. */
export function CardText({ card, edit, mayEdit, children }: Props) {
  const isEditing = edit.texts !== null && mayEdit;
  const pageLink = useTitleLinks();
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(isEditing);
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  if (isEditing) {
    return (
      <>
        {children}
        <TextForm card={card} edit={edit} />
      </>
    );
  }
  return (
    <>
      <div className="card-title">
        <h1 dir="auto">{card.title}</h1>
        {mayEdit && (
          <Button kind="quiet" ref={editButton} onClick={() => edit.open()} aria-keyshortcuts="e">
            <Icon name="edit" />
            Edit
          </Button>
        )}
      </div>
      {children}
      {card.description === "" ? (
        <p className="card-no-text">No description.</p>
      ) : (
        <Markdown text={card.description} pageLink={pageLink} />
      )}
    </>
  );
}

function TextForm({ card, edit }: Pick<Props, "card" | "edit">) {
  const title = useRef<HTMLInputElement>(null);
  const pageLink = useTitleLinks();
  const end = useEndOfEdit(edit, {
    saved: "Saved",
    conflict: "Not saved: somebody changed the card meanwhile. Choose which text to keep.",
  });
  useEffect(() => title.current?.focus(), []);
  const { texts, conflicts, isSaving, problem } = edit;
  if (!texts) return null;
  const isBlank = texts.title.trim() === "";
  const save = async (): Promise<void> => (isBlank ? title.current?.focus() : end.save());
  return (
    <EditorForm
      className="card-form"
      label="Edit the card"
      isSaving={isSaving}
      problem={problem === null ? null : `Not saved. ${problem} Your text is kept here.`}
      onSave={save}
      onCancel={end.cancel}
      hint={
        conflicts.length > 0 ? (
          "Choose which text to keep before you save."
        ) : (
          <span className="form-keys" aria-hidden="true">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> saves, <kbd>Esc</kbd> cancels
          </span>
        )
      }
    >
      <Field
        ref={title}
        label="Title"
        value={texts.title}
        maxLength={500}
        dir="auto"
        error={isBlank ? "A card needs a title." : undefined}
        onChange={(event) => edit.change("title", event.target.value)}
      />
      {conflicts.includes("title") && <Conflict field="title" noun="title" theirs={card.title} edit={edit} />}
      <MarkdownEditor
        label="Description"
        value={texts.description}
        rows={12}
        maxLength={20_000}
        pageLink={pageLink}
        onChange={(text) => edit.change("description", text)}
      />
      {conflicts.includes("description") && (
        <Conflict field="description" noun="description" theirs={card.description} edit={edit} />
      )}
    </EditorForm>
  );
}
