import { useEffect, useRef, useState, type FormEvent, type RefObject } from "react";
import { useLocation } from "wouter";
import { messageOf } from "../api/problem.ts";
import type { Card } from "../api/schema.d.ts";
import { useDraft } from "../api/use-draft.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useAnnounce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { useToast } from "../components/toast.tsx";

interface Props {
  readonly projectId: string;
  readonly stage: { readonly id: string; readonly name: string };
  readonly onCreated: (card: Card) => void;
  /** Absent where the form is always on the page. */
  readonly onClose?: () => void;
  readonly fieldRef?: RefObject<HTMLInputElement | null>;
}

/** The form for new cards of a stage. It stays open for the next one, and keeps what could not be saved. */
export function QuickAdd({ projectId, stage, onCreated, onClose, fieldRef }: Props) {
  const { board } = useWorkspace();
  const announce = useAnnounce();
  const noticeOfRefusal = useNoticeOfRefusal(stage.name);
  const create = useWrite("POST /v1/cards");
  const { text, setText, clear } = useDraft(`new-card:${board.workspaceId}:${projectId}:${stage.id}`);
  const own = useRef<HTMLInputElement>(null);
  const field = fieldRef ?? own;
  const [lacksTitle, setLacksTitle] = useState(false);
  const isOpened = onClose !== undefined;
  useEffect(() => {
    if (isOpened) field.current?.focus();
  }, [isOpened, field]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const title = text.trim();
    // A click on the button has taken the focus, and the letters of the next title would be shortcuts.
    field.current?.focus();
    setLacksTitle(title === "");
    if (title === "" || create.isPending) return;
    create.mutate(
      { body: { title, projectId, statusId: stage.id } },
      {
        onSuccess: ({ data: card }) => {
          clear();
          if (card.blocked) return noticeOfRefusal(card.number, card.blocked.message);
          announce(`Created card ${card.number} in ${stage.name}.`);
          onCreated(card);
        },
      },
    );
  };
  return (
    <form
      className="quick-add"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        if (onClose) onClose();
        else field.current?.blur();
      }}
    >
      <Field
        label={`Title of the new card in ${stage.name}`}
        isLabelHidden
        ref={field}
        placeholder="Title of the new card"
        maxLength={500}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setLacksTitle(false);
        }}
        error={lacksTitle ? "A card needs a title." : create.error ? messageOf(create.error) : undefined}
      />
      <div className="quick-add-actions">
        <Button type="submit" kind="primary" isBusy={create.isPending}>
          Create
        </Button>
        {onClose && (
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
        )}
      </div>
    </form>
  );
}

/** Says that a new card is in the backlog, because its move to the stage was refused. */
function useNoticeOfRefusal(stageName: string) {
  const { base } = useWorkspace();
  const toast = useToast();
  const [, navigate] = useLocation();
  return (number: number, message: string): void =>
    toast({
      kind: "failed",
      title: `Card #${number} was created in the backlog`,
      description: `It was not moved to ${stageName}: ${message}`,
      action: { label: "Open the card", run: () => navigate(`${base}/cards/${number}`) },
    });
}
