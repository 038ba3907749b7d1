import { z } from "zod";
import { addBoardAgent, changeAgentOwner, removeBoardAgent } from "../../actions/members/agents.ts";
import { invite, revokeInvitation } from "../../actions/members/invitations.ts";
import { changeMemberRole, removeMember } from "../../actions/members/members.ts";
import { findBoardAgent, listBoardAgents } from "../../store/tenancy/agents.ts";
import { findInvitation, listInvitations } from "../../store/tenancy/invitations.ts";
import { findBoardMember, listBoardMembers } from "../../store/tenancy/members.ts";
import { listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { byId } from "../v1/lookups.ts";
import { problem, role, timestamp, user } from "../v1/shapes.ts";
import { id, text } from "../validate.ts";
import { writeRoute } from "../write-route.ts";

const tag = "Console";
const needed = { tag, role: "maintainer" } as const;

const person = user
  .extend({
    login: z.string(),
    role,
    joinedAt: timestamp,
    lastSeenAt: timestamp.nullable().meta({ description: "The last call of the console, on any board" }),
    keys: z.array(z.string()).meta({ description: "The names of the API keys that the person owns here" }),
    webhooks: z.array(z.string()).meta({ description: "URLs of webhooks that stop when the person leaves" }),
    monitors: z.array(z.string()).meta({
      description: "Names of monitors that stop when the person leaves or is no maintainer any more",
    }),
  })
  .meta({ id: "Person" });

const invitation = z
  .object({
    id: z.uuid(),
    login: z.string(),
    avatarUrl: z.string().nullable(),
    role,
    invitedBy: z.string().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: "Invitation" });

const agent = z
  .object({
    id: z.uuid(),
    login: z.string(),
    avatarUrl: z.string().nullable(),
    isRegistered: z.boolean().meta({ description: "False for a well-known agent that was not registered" }),
    owner: z.object({ id: z.uuid(), login: z.string().nullable() }).nullable(),
  })
  .meta({ id: "Agent" });

const login = text({ min: 1, max: 100, isTrimmed: true });
const removed = { 204: { description: "Removed", schema: null } };
const refused = (description: string) => ({ 409: { description, schema: problem } });
const ONLY_MAINTAINER = "Nobody else is a maintainer";

const memberInPath = {
  params: z.object({ userId: id() }),
  find: byId("userId", findBoardMember, "member"),
};
const invitationInPath = {
  params: z.object({ id: id() }),
  find: byId("id", findInvitation, "invitation"),
};
const agentInPath = { params: z.object({ userId: id() }), find: byId("userId", findBoardAgent, "agent") };

/** The people, invitations and agents of a board. */
export const memberRoutes: readonly Route[] = [
  listRoute({
    ...needed,
    path: "/console/v1/people",
    summary: "List the people on the board",
    list: { description: "The members with a GitHub account, oldest first", schema: z.array(person) },
    handle: (deps, { board }) => listBoardMembers(deps.db, board.workspaceId),
  }),
  writeRoute({
    ...needed,
    ...memberInPath,
    method: "patch",
    path: "/console/v1/members/{userId}",
    summary: "Change the role of a member",
    body: z.strictObject({ role, from: role.meta({ description: "The role that the caller has seen" }) }),
    responses: {
      200: { description: "The member", schema: person },
      ...refused(`${ONLY_MAINTAINER}, or the role is not \`from\` any more`),
    },
    handle: (deps, { write, subject, body }) => changeMemberRole(deps, write, subject, body),
  }),
  writeRoute({
    ...needed,
    ...memberInPath,
    method: "delete",
    path: "/console/v1/members/{userId}",
    summary: "Remove a member",
    responses: { ...removed, ...refused(ONLY_MAINTAINER) },
    handle: (deps, { write, subject }) => removeMember(deps, write, subject),
  }),
  listRoute({
    ...needed,
    path: "/console/v1/invitations",
    summary: "List invitations",
    list: { description: "Those that wait for a sign-in, oldest first", schema: z.array(invitation) },
    handle: (deps, { board }) => listInvitations(deps.db, board.workspaceId),
  }),
  writeRoute({
    ...needed,
    method: "post",
    path: "/console/v1/invitations",
    summary: "Invite a GitHub account",
    body: z.strictObject({ login, role }),
    responses: {
      201: { description: "The invitation", schema: invitation },
      ...refused("The account is a member or invited already"),
    },
    handle: (deps, { write, body }) => invite(deps, write, body),
  }),
  writeRoute({
    ...needed,
    ...invitationInPath,
    method: "delete",
    path: "/console/v1/invitations/{id}",
    summary: "Revoke an invitation",
    responses: removed,
    handle: (_, { write, subject }) => revokeInvitation(write, subject),
  }),
  listRoute({
    ...needed,
    path: "/console/v1/agents",
    summary: "List agents",
    list: { description: "The agents by login", schema: z.array(agent) },
    handle: (deps, { board }) => listBoardAgents(deps.db, board.workspaceId),
  }),
  writeRoute({
    ...needed,
    method: "post",
    path: "/console/v1/agents",
    summary: "Register an agent",
    body: z.strictObject({ login, ownerId: id().nullable() }),
    responses: {
      201: { description: "The agent", schema: agent },
      ...refused(`The account is registered already, or ${ONLY_MAINTAINER.toLowerCase()}`),
    },
    handle: (deps, { write, body }) => addBoardAgent(deps, write, body),
  }),
  writeRoute({
    ...needed,
    ...agentInPath,
    method: "patch",
    path: "/console/v1/agents/{userId}",
    summary: "Set the owner of an agent",
    body: z.strictObject({ ownerId: id().nullable() }),
    responses: { 200: { description: "The agent", schema: agent } },
    handle: (deps, { write, subject, body }) => changeAgentOwner(deps, write, subject, body.ownerId),
  }),
  writeRoute({
    ...needed,
    ...agentInPath,
    method: "delete",
    path: "/console/v1/agents/{userId}",
    summary: "End the registration of an agent",
    responses: { ...removed, ...refused("A well-known agent that is not registered") },
    handle: (deps, { write, subject }) => removeBoardAgent(deps, write, subject),
  }),
];
