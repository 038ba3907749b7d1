import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { useRead } from "../api/reads.ts";
import type { BoardSnapshot } from "../api/patch-board.ts";
import { addressOfBoard, useWorkspace } from "../api/workspace.tsx";
import { useAddress } from "../shell/use-project.ts";
import { usePageAddress } from "../pages/page-address.ts";
import { SECTIONS } from "../settings/sections.ts";
import { PLACES } from "../shell/places.ts";
import "./keyboard.css";

interface Entry {
  readonly value: string;
  readonly note: string;
  readonly href: string;
}

interface Group {
  readonly value: string;
  readonly items: readonly Entry[];
}

/** Search and commands: places, boards, the cards that are in memory, and what the service finds. */
export default function CommandMenu({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState("");
  const local = useLocalEntries();
  const known = new Set(
    local.flatMap(({ items }) =>
      items.filter((entry) => matchesEntry(entry, typed, [])).map(({ href }) => href),
    ),
  );
  const found = useFound(typed).filter(({ href }) => !known.has(href));
  const groups = [...local, ...(found.length > 0 ? [{ value: "Search results", items: found }] : [])];
  const open = ({ href }: Entry): void => {
    onClose();
    navigate(href);
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-scrim" />
        <Dialog.Popup className="command" aria-label="Search and commands">
          <Autocomplete.Root
            open
            inline
            items={groups}
            autoHighlight="always"
            keepHighlight
            value={typed}
            onValueChange={setTyped}
            itemToStringValue={(entry: Entry) => `${entry.value} ${entry.note}`}
            filter={(entry: Entry, query: string) => matchesEntry(entry, query, found)}
          >
            <Autocomplete.Input
              className="command-input"
              aria-label="Search cards and pages"
              placeholder="Card number, title, stage, or page"
            />
            <Dialog.Close className="visually-hidden">Close</Dialog.Close>
            <Autocomplete.Empty className="command-empty">Nothing matches.</Autocomplete.Empty>
            <Autocomplete.List className="command-list">
              {(group: Group) => (
                <Autocomplete.Group key={group.value} items={group.items}>
                  <Autocomplete.GroupLabel className="menu-label">{group.value}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(entry: Entry) => (
                      <Autocomplete.Item
                        key={entry.href}
                        value={entry}
                        className="command-item"
                        onClick={() => open(entry)}
                      >
                        <span className="command-item-text" dir="auto">
                          {entry.value}
                        </span>
                        <span className="command-item-note">{entry.note}</span>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Every word must be in the text or the note. The service has matched its own results already. */
function matchesEntry(entry: Entry, query: string, found: readonly Entry[]): boolean {
  if (found.includes(entry)) return true;
  const text = `${entry.value} ${entry.note}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Places and the cards of the boards in memory. */
function useLocalEntries(): Group[] {
  const { base, board, keys, session } = useWorkspace();
  const addressOf = useAddress();
  const boards = useQueryClient().getQueriesData<BoardSnapshot>({ queryKey: keys.boards });
  const columns = boards.flatMap(([, board]) => board?.columns ?? []);
  const cards = columns.flatMap(({ name, tasks }) =>
    tasks.map(({ number, title }) => ({
      value: `#${number} ${title}`,
      note: name,
      href: `${base}/cards/${number}`,
    })),
  );
  const places = [
    ...PLACES.map(({ label, path }) => ({ value: label, note: "Go to", href: addressOf(path) })),
    ...SECTIONS.map(({ title, path }) => ({
      value: title,
      note: "Settings",
      href: addressOf(`/settings/${path}`),
    })),
    ...(session.isOperator ? [{ value: "Operations", note: "Go to", href: "/operations" }] : []),
    ...columns.map(({ name, statusId }) => ({
      value: name,
      note: "Stage",
      href: addressOf("", { stage: statusId }),
    })),
    ...session.boards
      .filter(({ workspaceId }) => workspaceId !== board.workspaceId)
      .map((other) => ({ value: other.name, note: "Board", href: `/b/${addressOfBoard(session, other)}` })),
  ];
  return [
    { value: "Go to", items: places },
    { value: "Cards", items: cards },
  ];
}

/** What the service finds in texts and comments, the best match of each card, with the words around it. */
function useFound(typed: string): Entry[] {
  const { base, board } = useWorkspace();
  const addressOf = usePageAddress();
  const q = typed.trim();
  const { data } = useRead(
    [board.workspaceId, "search", q],
    "GET /v1/search",
    { query: { q, kinds: "cards,comments,pages", limit: "10" } },
    { enabled: q.length > 1, staleTime: 10_000 },
  );
  const entries = (data?.results ?? []).map(({ number, slug, title, snippet }) => ({
    value: number === null ? title : `#${number} ${title}`,
    note: snippet === title ? (number === null ? "Page" : "Found") : snippet,
    href: number === null ? addressOf(slug ?? "") : `${base}/cards/${number}`,
  }));
  return [...new Map(entries.toReversed().map((entry) => [entry.href, entry])).values()].toReversed();
}
