import { useQueryClient } from "@tanstack/react-query";
import type { Ref } from "react";
import { messageOf } from "../../api/problem.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { MAX_COMMENT } from "./comment.tsx";
import { editorKeys } from "../edit/editor-keys.ts";
import { MarkdownEditor } from "../edit/markdown-editor.tsx";

interface Props {
  readonly number: number;
  readonly areaRef: Ref<HTMLTextAreaElement>;
}

/** Writes a comment. What is typed stays until the service has it. */
export function Composer({ number, areaRef }: Props) {
  const { board, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const draft = useDraft(`comment:${board.workspaceId}:${number}`);
  const { mutate, isPending, error } = useWrite("POST /v1/cards/{number}/comments");
  const isBlank = draft.text.trim() === "";
  const send = (): void => {
    if (isPending || isBlank) return;
    const { text } = draft;
    mutate(
      { path: { number }, body: { body: text } },
      {
        onSuccess: ({ data: { mirroredTo } }) => {
          draft.clear();
          announce(mirroredTo > 0 ? "Comment added, also to the pull requests on GitHub" : "Comment added");
          void queries.invalidateQueries({ queryKey: keys.cardPart(number, "timeline") });
        },
      },
    );
  };
  return (
    <form
      className="composer"
      aria-label="New comment"
      onKeyDown={editorKeys({
        onSave: send,
        onCancel: () => (document.activeElement as HTMLElement | null)?.blur(),
      })}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <MarkdownEditor
        label="Comment"
        value={draft.text}
        rows={4}
        maxLength={MAX_COMMENT}
        placeholder="Write a comment. Open pull requests of the card show it, too."
        onChange={draft.setText}
        areaRef={areaRef}
      />
      {error && (
        <p className="form-problem" role="alert">
          Not sent. {messageOf(error)} Your text is kept here.
        </p>
      )}
      <div className="form-actions">
        <Button kind="primary" type="submit" isBusy={isPending} disabled={isBlank}>
          {isPending ? "Sending…" : "Comment"}
        </Button>
      </div>
    </form>
  );
}
