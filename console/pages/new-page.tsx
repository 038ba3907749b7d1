import { useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { messageOf } from "../api/problem.ts";
import type { PageSummary } from "../api/schema.d.ts";
import { useDraft } from "../api/use-draft.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { editorKeys } from "../card/edit/editor-keys.ts";
import { MarkdownEditor } from "../card/edit/markdown-editor.tsx";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { useTitleLinks } from "./page-link.tsx";
import { ParentChoice } from "./parent-choice.tsx";
import { useCreatePage } from "./use-create-page.ts";
import "../components/form.css";
import { useAddress } from "../shell/use-project.ts";

interface Props {
  readonly pages: readonly PageSummary[];
  readonly parentId: string | null;
  readonly title: string;
}

/** The form for a page. What is typed survives a reload and a failed attempt. */
export function NewPage({ pages, parentId: given, title: initial }: Props) {
  const { board } = useWorkspace();
  const addressOf = useAddress();
  const [, navigate] = useLocation();
  const title = useDraft(`new-page-title:${board.workspaceId}`);
  const body = useDraft(`new-page:${board.workspaceId}`);
  const [parentId, setParentId] = useState(pages.some(({ id }) => id === given) ? given : null);
  const [error, setError] = useState<string | null>(null);
  const { create, isBusy } = useCreatePage();
  const pageLink = useTitleLinks();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (initial !== "") title.setText(initial);
    field.current?.focus();
  }, [initial]);
  const save = async (): Promise<void> => {
    if (title.text.trim() === "" || isBusy) {
      field.current?.focus();
      return;
    }
    setError(null);
    try {
      await create({ title: title.text.trim(), body: body.text, parentId });
      title.clear();
      body.clear();
    } catch (problem) {
      setError(messageOf(problem));
    }
  };
  const cancel = (): void => navigate(addressOf("/pages"));
  return (
    <form
      className="page-form"
      aria-labelledby="new-page"
      onKeyDown={editorKeys({ onSave: () => void save(), onCancel: cancel })}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h1 id="new-page">New page</h1>
      <Field
        ref={field}
        label="Title"
        value={title.text}
        maxLength={200}
        dir="auto"
        onChange={(event) => title.setText(event.target.value)}
      />
      <ParentChoice pages={pages} value={parentId} onChoose={setParentId} />
      <MarkdownEditor
        label="Text"
        value={body.text}
        rows={16}
        maxLength={200_000}
        pageLink={pageLink}
        onChange={body.setText}
      />
      {error !== null && (
        <p className="form-problem" role="alert">
          Not created. {error} Your text is kept here.
        </p>
      )}
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Create the page
        </Button>
        <Button kind="quiet" onClick={cancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
