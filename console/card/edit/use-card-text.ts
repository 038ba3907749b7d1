import { useQueryClient } from "@tanstack/react-query";
import type { CardSnapshot } from "../../api/reads.ts";
import type { Card } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useTextEdit, type TextEdit } from "./use-text-edit.ts";

export type CardTextField = "title" | "description";
const FIELDS = ["title", "description"] as const;

/** Edits the title and the text of a card. */
export function useCardText(card: CardSnapshot): TextEdit<CardTextField> {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const write = useWrite("PATCH /v1/cards/{number}");
  const path = { number: card.number };
  const show = (data: Card, feedSeq: number | null): void =>
    void queries.setQueryData(keys.card(card.number), { ...data, feedSeq: feedSeq ?? card.feedSeq });
  return useTextEdit({
    draftName: `card:${client.workspaceId}:${card.number}`,
    fields: FIELDS,
    now: card,
    readNow: async () => {
      const { data, feedSeq } = await client.read("GET /v1/cards/{number}", { path });
      show(data, feedSeq);
      return data;
    },
    write: async (body) => {
      const { data, feedSeq } = await write.mutateAsync({ path, body });
      show(data, feedSeq);
    },
  });
}
