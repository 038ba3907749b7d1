import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import { approveProposal } from "../../actions/cards/approve-proposal.ts";
import { findSignedIn, nameBoards } from "../../store/tenancy/sessions.ts";
import { cardOf, cardParams } from "../resolve.ts";
import { credentialRoute, type Route } from "../route.ts";
import { role } from "../v1/shapes.ts";
import { writeRoute } from "../write-route.ts";
import { attemptRoutes } from "./attempt-routes.ts";
import { cardRoutes } from "./card-routes.ts";
import type { Console } from "./console.ts";
import { keyRoutes } from "./key-routes.ts";
import { memberRoutes } from "./member-routes.ts";
import { monitorRoutes } from "./monitor-routes.ts";
import { pageRoutes } from "./page-routes.ts";
import { stageRoutes } from "./stage-routes.ts";

const session = z.object({
  user: z.object({
    id: z.uuid(),
    login: z.string(),
    name: z.string(),
    avatarUrl: z.string().nullable(),
    forgeId: z.int(),
  }),
  boards: z.array(z.object({ workspaceId: z.uuid(), name: z.string(), slug: z.string(), role })),
  isOperator: z.boolean(),
  version: z.string(),
  isSandbox: z.boolean(),
  forgeUrl: z.string(),
});

const sha = z.string().regex(/^[0-9a-f]{40}$/, "must be a commit, 40 hexadecimal digits");

const approval = z.strictObject({ fullName: z.string().optional(), headSha: sha });

const approved = z.object({
  fullName: z.string(),
  prNumber: z.int(),
  headSha: sha,
  state: z.enum(["merged", "pending"]),
});

/** Routes for which `npm run console-types` writes types, besides those of `/v1`. */
export const typedRoutes: readonly Route[] = [
  ...memberRoutes,
  ...keyRoutes,
  ...attemptRoutes,
  ...stageRoutes,
  ...cardRoutes,
];

/** Routes for people only, which `/v1` does not have. */
export const consoleRoutes = (console: Console): readonly Route[] => [
  credentialRoute({
    path: "/console/session",
    summary: "Get the session",
    tag: "Console",
    responses: { 200: { description: "The person and their boards", schema: session } },
    handle: async ({ db }, { credential: { userId, boards, isOperator } }) => ({
      user: await findSignedIn(db, userId),
      boards: await nameBoards(db, boards),
      isOperator,
      version: packageJson.version,
      isSandbox: console.isSandbox,
      forgeUrl: console.forgeUrl,
    }),
  }),
  writeRoute({
    method: "post",
    path: "/console/v1/cards/{number}/approve",
    summary: "Approve the proposal of an agent",
    tag: "Console",
    role: "member",
    params: cardParams,
    body: approval,
    responses: { 200: { description: "What was approved", schema: approved } },
    find: cardOf,
    handle: (deps, { write, subject, body: { fullName = null, headSha } }) =>
      approveProposal(deps, console.signIn?.tokenKey ?? null, write, subject, { fullName, headSha }),
  }),
  ...typedRoutes,
  ...monitorRoutes(console),
  ...pageRoutes,
];
