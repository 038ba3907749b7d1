import { useEffect, useRef, useState, type ClipboardEvent, type FormEvent, type RefObject } from "react";
import { useLocation } from "wouter";
import type { Card } from "../../api/schema.d.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { Field } from "../../components/field.tsx";
import { useToast } from "../../components/toast.tsx";
import { cardsOf } from "../../text/counted.ts";
import { useNewCards, type NewCards } from "./use-new-cards.ts";
import "../../components/form.css";

interface Props {
  readonly projectId: string;
  readonly stage: { readonly id: string; readonly name: string };
  readonly onCreated: (card: Card) => void;
  /** Absent where the form is always on the page. */
  readonly onClose?: () => void;
  readonly fieldRef?: RefObject<HTMLInputElement | null>;
}

const MAX_TITLE = 500;

/**
 * The form for new cards of a stage. It is free for the next title at once: cards are created one after the other in the
 * order typed, and what could not be created stays. Several pasted lines may become several cards.
 */
export function QuickAdd({ projectId, stage, onCreated, onClose, fieldRef }: Props) {
  const { board } = useWorkspace();
  const announce = useAnnounce();
  const noticeOfRefusal = useNoticeOfRefusal(stage.name);
  const cards = useNewCards(projectId, stage.id, (card) => {
    if (card.blocked) return noticeOfRefusal(card.number, card.blocked.message);
    announce(`Created card ${card.number} in ${stage.name}.`);
    onCreated(card);
  });
  const { text, setText, clear } = useDraft(`new-card:${board.workspaceId}:${projectId}:${stage.id}`);
  const own = useRef<HTMLInputElement>(null);
  const field = fieldRef ?? own;
  const [lacksTitle, setLacksTitle] = useState(false);
  const [pasted, setPasted] = useState<readonly string[]>([]);
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
    if (title === "") return;
    clear();
    cards.add(title);
  };
  const offerLines = (event: ClipboardEvent): void => {
    const lines = linesOf(event.clipboardData.getData("text"));
    if (lines.length < 2) return;
    event.preventDefault();
    setPasted(lines);
  };
  const answer = (isOneEach: boolean): void => {
    if (isOneEach) pasted.forEach(cards.add);
    else setText(`${text}${pasted.join(" ")}`.slice(0, MAX_TITLE));
    setPasted([]);
    field.current?.focus();
  };
  return (
    <form
      className="quick-add"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        if (pasted.length > 0) setPasted([]);
        else if (onClose) onClose();
        else field.current?.blur();
      }}
    >
      <Field
        label={`Title of the new card in ${stage.name}`}
        isLabelHidden
        ref={field}
        placeholder="Title of the new card"
        maxLength={MAX_TITLE}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setLacksTitle(false);
        }}
        onPaste={offerLines}
        error={lacksTitle ? "A card needs a title." : undefined}
      />
      {pasted.length > 0 && (
        <div className="quick-add-actions" role="group" aria-label="Pasted lines">
          <Button kind="primary" onClick={() => answer(true)}>
            Create {pasted.length} cards, one per line
          </Button>
          <Button onClick={() => answer(false)}>Paste as one title</Button>
        </div>
      )}
      {cards.failed.length > 0 && <NotCreated {...cards} />}
      <div className="quick-add-actions">
        <Button type="submit" kind="primary">
          Create
        </Button>
        {onClose && (
          <Button kind="quiet" onClick={onClose}>
            Close
          </Button>
        )}
        {cards.pending.length > 0 && (
          <span className="quick-add-pending" role="status">
            Creating {cardsOf(cards.pending.length)}…
          </span>
        )}
      </div>
    </form>
  );
}

/** The titles whose cards were not created, and why. */
const NotCreated = ({ failed, problem, retry }: NewCards) => (
  <div role="alert" className="form-problem">
    <p>{problem ?? "These cards were not created before the page was left."}</p>
    <ul className="quick-add-failed">
      {failed.map((title, index) => (
        <li key={`${index} ${title}`} dir="auto">
          {title}
        </li>
      ))}
    </ul>
    <Button onClick={retry}>Try again</Button>
  </div>
);

/** The titles in a text with one a line. */
const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim().slice(0, MAX_TITLE).trim())
    .filter((line) => line !== "");

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
