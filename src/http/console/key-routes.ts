import { z } from "zod";
import { issueBoardKey, revokeBoardKey, rotateBoardKey } from "../../actions/credentials/board-keys.ts";
import { findBoardKey, listBoardKeys } from "../../store/tenancy/board-keys.ts";
import { listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { byId } from "../v1/lookups.ts";
import { problem, role, timestamp } from "../v1/shapes.ts";
import { id, text } from "../validate.ts";
import { writeRoute } from "../write-route.ts";

const needed = { tag: "Console", role: "member" } as const;
const MAX_DAYS = 3_650;
const MAX_KEEP_HOURS = 24;

const scopes = z.array(z.enum(["read", "write"]));
const isScopes = (given: readonly string[]): boolean =>
  given.includes("read") && new Set(given).size === given.length;

const key = z
  .object({
    id: z.uuid(),
    clientId: z.string(),
    name: z.string(),
    userId: z.uuid(),
    owner: z.object({ id: z.uuid(), login: z.string().nullable() }).nullable(),
    role: role.nullable().meta({ description: "On this board; null for a revoked key" }),
    otherBoards: z.int().meta({ description: "How many other boards the key reaches" }),
    scopes,
    createdAt: timestamp,
    expiresAt: timestamp.nullable(),
    previousUntil: timestamp.nullable().meta({
      description: "Until when the key before the last rotation is valid; null if it is not",
    }),
    lastUsedAt: timestamp.nullable(),
    revokedAt: timestamp.nullable(),
  })
  .meta({ id: "ApiKey" });

const withSecret = key
  .extend({ apiKey: z.string().meta({ description: "No other response has it" }) })
  .meta({ id: "IssuedApiKey" });

const expiresInDays = z.int().min(1).max(MAX_DAYS).nullable().meta({ description: "null: never" });

const keyInPath = { params: z.object({ id: id() }), find: byId("id", findBoardKey, "API key") };

/** The API keys of a board: all of them for maintainers, their own for members. */
export const keyRoutes: readonly Route[] = [
  listRoute({
    ...needed,
    path: "/console/v1/credentials",
    summary: "List API keys",
    list: { description: "The newest first; revoked ones last, for 90 days", schema: z.array(key) },
    handle: (deps, { board, credential }) =>
      listBoardKeys(deps.db, board.workspaceId, board.role === "maintainer" ? null : credential.userId),
  }),
  writeRoute({
    ...needed,
    method: "post",
    path: "/console/v1/credentials",
    summary: "Issue an API key",
    hasSecret: true,
    body: z.strictObject({
      name: text({ min: 1, max: 100, isTrimmed: true }),
      role,
      scopes: scopes.refine(isScopes, "must be read, or read and write"),
      expiresInDays,
    }),
    responses: {
      201: { description: "The key, shown once", schema: withSecret },
      409: { description: "The caller owns too many keys", schema: problem },
    },
    handle: (deps, { write, body }) => issueBoardKey(deps, write, body),
  }),
  writeRoute({
    ...needed,
    ...keyInPath,
    method: "post",
    path: "/console/v1/credentials/{id}/rotate",
    summary: "Replace an API key",
    hasSecret: true,
    body: z.strictObject({
      keepHours: z
        .int()
        .min(0)
        .max(MAX_KEEP_HOURS)
        .meta({ description: "How long the previous key stays valid" }),
      expiresInDays: expiresInDays.optional(),
    }),
    responses: {
      200: { description: "The key, shown once", schema: withSecret },
      409: { description: "The key is revoked or expired, or reaches other boards", schema: problem },
    },
    handle: (deps, { write, subject, body }) => rotateBoardKey(deps, write, subject, body),
  }),
  writeRoute({
    ...needed,
    ...keyInPath,
    method: "delete",
    path: "/console/v1/credentials/{id}",
    summary: "Revoke an API key",
    description: "A key that reaches other boards loses only this board.",
    responses: {
      204: { description: "Revoked", schema: null },
      409: { description: "Revoked already", schema: problem },
    },
    handle: (deps, { write, subject }) => revokeBoardKey(deps, write, subject),
  }),
];
