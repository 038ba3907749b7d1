import type { Operations } from "../../api/schema.d.ts";
import { usePages } from "../../api/use-pages.ts";
import { useWorkspace } from "../../api/workspace.tsx";

export type AuditQuery = Omit<Operations["GET /v1/audit"]["query"], "limit" | "cursor" | "order">;

const PAGE = 50;

/** The attempts that fit a filter, the newest first, page by page. */
export function useAudit(filter: AuditQuery) {
  const { client, keys } = useWorkspace();
  return usePages(keys.audit(JSON.stringify(filter)), async (cursor, signal) => {
    const query = { ...filter, order: "desc", limit: PAGE, ...(cursor !== null && { cursor }) } as const;
    const { data, next } = await client.read("GET /console/v1/audit/attempts", { query }, signal);
    return { items: data, next };
  });
}
