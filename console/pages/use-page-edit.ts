import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useTextEdit, type TextEdit } from "../card/edit/use-text-edit.ts";
import { usePageAddress } from "./page-address.ts";
import { usePageKey, type ShownPage } from "./use-pages.ts";

export type PageField = "title" | "body";
const FIELDS = ["title", "body"] as const;

/** Edits the title and the text of a page. A new title changes its address, which then opens. */
export function usePageEdit(page: ShownPage, slug: string): TextEdit<PageField> {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const keyOf = usePageKey();
  const addressOf = usePageAddress();
  const [, navigate] = useLocation();
  const write = useWrite("PATCH /v1/docs/{docId}");
  const path = { docId: page.id };
  return useTextEdit({
    draftName: `page:${client.workspaceId}:${page.id}`,
    fields: FIELDS,
    now: page,
    readNow: async () => {
      const { data } = await client.read("GET /v1/docs/{docId}", { path });
      queries.setQueryData(keyOf(slug), { ...data, links: page.links });
      return data;
    },
    write: async (body) => {
      const { data } = await write.mutateAsync({ path, body });
      for (const each of new Set([slug, data.slug]))
        queries.setQueryData(keyOf(each), { ...data, links: page.links });
      // The links of the new text are known after the next read.
      void queries.invalidateQueries({ queryKey: keys.list("docs") });
      if (data.slug !== slug) navigate(addressOf(data.slug), { replace: true });
    },
  });
}
