import { z } from "zod";
import { listOrganizationsOfUser, listWorkspacesOfUser } from "../../store/tenancy/workspaces.ts";
import { listMembers } from "../../store/tenancy/users.ts";
import { credentialListRoute, listRoute } from "../list-route.ts";
import { credentialRoute, type Route } from "../route.ts";
import { role, user } from "./shapes.ts";

const credential = z
  .object({
    clientId: z.string().meta({ description: "The public part of the API key, safe to log" }),
    name: z.string(),
    scopes: z.array(z.enum(["read", "write"])),
    boards: z.array(z.object({ workspaceId: z.uuid(), organizationId: z.uuid(), role })),
    answering: z.string().nullable(),
  })
  .meta({ id: "Credential" });

const workspace = z
  .object({
    id: z.uuid(),
    name: z.string(),
    slug: z.string(),
    organizationId: z.uuid(),
    organizationSlug: z.string(),
    organizationName: z.string(),
    role,
  })
  .meta({ id: "Workspace" });

const organization = z
  .object({ id: z.uuid(), name: z.string(), slug: z.string(), workspaceIds: z.array(z.uuid()) })
  .meta({ id: "Organization" });

export const accountRoutes: readonly Route[] = [
  credentialRoute({
    path: "/v1/me",
    summary: "Get the current credential",
    description: "The credential of the API key, with the boards it reaches.",
    tag: "Account",
    responses: { 200: { description: "The credential", schema: credential } },
    handle: (_deps, { credential: { clientId, name, scopes, boards } }) =>
      Promise.resolve({ clientId, name, scopes, boards, answering: null }),
  }),
  credentialListRoute({
    path: "/v1/workspaces",
    summary: "List boards",
    description: "The boards that the credential reaches, with its role on each.",
    tag: "Account",
    list: { description: "The boards", schema: z.array(workspace) },
    handle: (deps, call) => listWorkspacesOfUser(deps.db, call.credential.userId),
  }),
  credentialListRoute({
    path: "/v1/organizations",
    summary: "List organizations",
    description: "The organizations whose boards the credential reaches.",
    tag: "Account",
    list: { description: "The organizations", schema: z.array(organization) },
    handle: (deps, call) => listOrganizationsOfUser(deps.db, call.credential.userId),
  }),
];

const member = user
  .extend({ role: role.meta({ description: "The role on this board" }) })
  .meta({ id: "Member" });

export const memberRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/members",
    summary: "List members",
    description:
      "Cards can be assigned to members. Members are added and get their roles in the console and on the command line.",
    tag: "Members",
    list: { description: "The members, oldest first", schema: z.array(member) },
    handle: (deps, { board }) => listMembers(deps.db, board.workspaceId),
  }),
];
