import { z } from "zod";
import { listMembers } from "../../store/tenancy/users.ts";
import { listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { role, user } from "./shapes.ts";

const member = user
  .extend({ role: role.meta({ description: "What it may do on this board" }) })
  .meta({ id: "Member" });

const listMembersRoute = listRoute({
  path: "/v1/members",
  summary: "The members of the board, oldest first",
  description:
    "Whom cards can be assigned to. Members are added and given roles from the command line, not here.",
  tag: "Members",
  list: { description: "The members", schema: z.array(member) },
  handle: (deps, { board }) => listMembers(deps.db, board.workspaceId),
});

export const memberRoutes: readonly Route[] = [listMembersRoute];
