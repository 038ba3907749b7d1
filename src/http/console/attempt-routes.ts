import { z } from "zod";
import { nameAttempts } from "../../store/audit/attempt-names.ts";
import { readAttempts, type AuditEntry } from "../../store/audit/attempts.ts";
import { keyedListRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { attemptQuery, attemptPlace, filterOf } from "../v1/audit.ts";
import { timestamp } from "../v1/shapes.ts";

const attempt = z
  .object({
    id: z.uuid(),
    at: timestamp,
    actor: z.object({ id: z.uuid().nullable(), name: z.string(), kind: z.string() }).nullable(),
    credential: z.string().nullable(),
    action: z.string(),
    targets: z.record(z.string(), z.union([z.string(), z.number()])),
    outcome: z.object({ status: z.int().nullable(), problem: z.string().nullable(), replay: z.boolean() }),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string().nullable(),
    calls: z.array(z.object({ method: z.string(), ref: z.string(), result: z.string() })),
    events: z.array(z.int()),
    hash: z.string().nullable(),
    names: z.object({
      card: z.object({ number: z.int(), title: z.string().nullable(), isDeleted: z.boolean() }).nullable(),
      subject: z.string().nullable(),
      to: z.string().nullable().meta({ description: "The stage or the role after it" }),
      refused: z.int().meta({ description: "The cards that a promotion refused to move" }),
    }),
  })
  .meta({ id: "Attempt" });

const UNNAMED = { card: null, subject: null, to: null, refused: 0 };

/** The audit log for people: its rows, with names. */
export const attemptRoutes: readonly Route[] = [
  keyedListRoute({
    path: "/console/v1/audit/attempts",
    summary: "List attempts with the names of what they concerned",
    tag: "Console",
    role: "maintainer",
    query: attemptQuery,
    key: attemptPlace,
    list: {
      description: "Rows of the audit log, oldest first unless `order` is desc",
      schema: z.array(attempt),
    },
    handle: async ({ db }, { board: { workspaceId }, query }, window) => {
      const part = { ...window, order: query.order ?? "asc" };
      const { lines, next } = await readAttempts(db, workspaceId, filterOf(query), part);
      const entries = lines.map((line) => JSON.parse(line) as AuditEntry);
      const names = await nameAttempts(
        db,
        workspaceId,
        entries.map(({ id }) => id),
      );
      return { items: entries.map((entry) => ({ ...entry, names: names.get(entry.id) ?? UNNAMED })), next };
    },
  }),
];
