import { useEffect, useRef } from "react";
import { Conflict } from "../card/edit/conflict.tsx";
import { EditorForm, useEndOfEdit } from "../card/edit/editor-form.tsx";
import { MarkdownEditor } from "../card/edit/markdown-editor.tsx";
import type { TextEdit } from "../card/edit/use-text-edit.ts";
import { Field } from "../components/field.tsx";
import { useTitleLinks } from "./page-link.tsx";
import type { PageField } from "./use-page-edit.ts";
import type { ShownPage } from "./use-pages.ts";

interface Props {
  readonly page: ShownPage;
  readonly edit: TextEdit<PageField>;
  readonly isGone: boolean;
}

/** The form of a page's title and text. */
export function PageForm({ page, edit, isGone }: Props) {
  const pageLink = useTitleLinks();
  const title = useRef<HTMLInputElement>(null);
  const end = useEndOfEdit(edit, {
    saved: "Saved",
    conflict: "Not saved: somebody changed the page meanwhile. Choose which text to keep.",
  });
  useEffect(() => title.current?.focus(), []);
  const { texts, conflicts, isSaving, problem } = edit;
  if (!texts) return null;
  const isBlank = texts.title.trim() === "";
  const save = async (): Promise<void> => (isBlank ? title.current?.focus() : end.save());
  return (
    <EditorForm
      className="page-form"
      label="Edit the page"
      isSaving={isSaving}
      problem={problem === null ? null : `Not saved. ${problem} Your text is kept here.`}
      onSave={save}
      onCancel={end.cancel}
      hint={conflicts.length > 0 && "Choose which text to keep before you save."}
    >
      {isGone && (
        <p className="form-problem" role="alert">
          Somebody deleted this page. Copy your text if you want to keep it.
        </p>
      )}
      <Field
        ref={title}
        label="Title"
        hint="A new title changes the address; links with the old one still lead here"
        value={texts.title}
        maxLength={200}
        dir="auto"
        error={isBlank ? "A page needs a title." : undefined}
        onChange={(event) => edit.change("title", event.target.value)}
      />
      {conflicts.includes("title") && <Conflict field="title" noun="title" theirs={page.title} edit={edit} />}
      <MarkdownEditor
        label="Text"
        value={texts.body}
        rows={20}
        maxLength={200_000}
        pageLink={pageLink}
        onChange={(text) => edit.change("body", text)}
      />
      {conflicts.includes("body") && <Conflict field="body" noun="text" theirs={page.body} edit={edit} />}
    </EditorForm>
  );
}
