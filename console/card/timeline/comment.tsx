import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { messageOf } from "../../api/problem.ts";
import type { TimelineComment } from "../../api/schema.d.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Markdown } from "../../text/markdown.tsx";
import { Ago } from "../../text/time.tsx";
import { ActorName, nameOf } from "./actor.tsx";
import { editorKeys } from "../edit/editor-keys.ts";
import { MarkdownEditor } from "../edit/markdown-editor.tsx";

/** The longest comment that the API accepts. */
export const MAX_COMMENT = 10_000;

interface Props {
  readonly number: number;
  readonly comment: TimelineComment;
}

/** A comment; its author can edit it here. */
export function Comment({ number, comment }: Props) {
  const { author, at, editedAt, body, editable, id } = comment;
  const { board } = useWorkspace();
  const draft = useDraft(`comment-edit:${board.workspaceId}:${id}`);
  const [isOpen, setIsOpen] = useState(draft.text !== "");
  const editButton = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    draft.clear();
    setIsOpen(false);
    setTimeout(() => editButton.current?.focus());
  };
  const isEditing = isOpen && editable;
  return (
    <article className="comment" aria-label={`Comment by ${nameOf(author)}`}>
      <header className="comment-head">
        <Avatar name={nameOf(author)} kind={author.user.kind} isDecorative />
        <ActorName actor={author} />
        <Ago at={at} />
        {author.login !== null && <Badge tone="accent">from GitHub</Badge>}
        {editedAt !== null && (
          <span className="comment-edited">
            edited <Ago at={editedAt} />
          </span>
        )}
        {editable && !isEditing && (
          <Button
            kind="quiet"
            className="comment-edit"
            ref={editButton}
            onClick={() => {
              draft.setText(body);
              setIsOpen(true);
            }}
          >
            Edit
          </Button>
        )}
      </header>
      {isEditing ? (
        <CommentForm number={number} id={id} draft={draft} onClose={close} />
      ) : (
        <Markdown text={body} />
      )}
    </article>
  );
}

interface FormProps {
  readonly number: number;
  readonly id: string;
  readonly draft: ReturnType<typeof useDraft>;
  readonly onClose: () => void;
}

function CommentForm({ number, id, draft, onClose }: FormProps) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const { mutate, isPending, error } = useWrite("PATCH /v1/cards/{number}/comments/{commentId}");
  const isBlank = draft.text.trim() === "";
  const shown = () => queries.invalidateQueries({ queryKey: keys.cardPart(number, "timeline") });
  const save = (): void => {
    if (isPending || isBlank) return;
    mutate(
      { path: { number, commentId: id }, body: { body: draft.text } },
      {
        onSuccess: () => {
          announce("Comment changed");
          void shown().finally(onClose);
        },
      },
    );
  };
  return (
    <form
      className="comment-form"
      onKeyDown={editorKeys({ onSave: save, onCancel: onClose })}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <MarkdownEditor
        label="Edit the comment"
        value={draft.text}
        rows={5}
        maxLength={MAX_COMMENT}
        onChange={draft.setText}
      />
      {error && (
        <p className="form-problem" role="alert">
          Not saved. {messageOf(error)} Your text is kept here.
        </p>
      )}
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isPending} disabled={isBlank}>
          Save
        </Button>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
