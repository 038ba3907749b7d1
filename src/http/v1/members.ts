import { z } from "zod";
import { listMembers } from "../../store/members.ts";
import { listRoute } from "../list-route.ts";
import type { Route } from "../route.ts";
import { role, user } from "./shapes.ts";

const member = user
  .extend({ role: role.meta({ description: "What it may do on this board" }) })
  .meta({ id: "Member" });

export const memberRoutes: readonly Route[] = [
  listRoute({
    path: "/v1/members",
    summary: "The members of the board, oldest first",
    description:
      "Whom cards can be assigned to. Members are added and given roles from the command line, not here.",
    tag: "Members",
    list: { description: "The members", schema: z.array(member) },
    handle: (deps, { board }) => listMembers(deps.db, board.workspaceId),
  }),
];
