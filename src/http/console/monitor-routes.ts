import { z } from "zod";
import { addMonitor, deleteMonitor, rotateMonitorSecret } from "../../actions/boards/monitors.ts";
import { findBoardMonitor, listMonitors } from "../../store/ops/monitors.ts";
import { listRoute } from "../list-route.ts";
import { projectOf } from "../resolve.ts";
import type { Route } from "../route.ts";
import { byId } from "../v1/lookups.ts";
import { timestamp, user } from "../v1/shapes.ts";
import { id, text } from "../validate.ts";
import { writeRoute } from "../write-route.ts";
import type { Console } from "./console.ts";

const tag = "Console";
const role = "maintainer";

const monitor = z.object({
  id: z.uuid(),
  name: z.string(),
  projectId: z.uuid(),
  url: z.string().meta({ description: "The monitor sends its reports to it" }),
});

const withSecret = monitor.extend({ secret: z.string() });

const monitorInPath = {
  params: z.object({ monitorId: id() }),
  find: byId("monitorId", findBoardMonitor, "monitor"),
};

/** The monitors of a board, which the commands `trunkline monitor` manage as well. */
export function monitorRoutes(console: Console): readonly Route[] {
  const urlOf = (monitorId: string): string => `${console.publicUrl()}/monitors/${monitorId}`;
  return [
    listRoute({
      path: "/console/v1/monitors",
      summary: "List monitors",
      tag,
      role,
      list: {
        description: "The monitors, the oldest first",
        schema: z.array(
          monitor.extend({
            createdBy: user.nullable().meta({ description: "null for the operator" }),
            createdAt: timestamp,
            stoppedAt: timestamp.nullable().meta({
              description:
                "Since when nobody knows the secret, because somebody who did left the board or is no maintainer any more",
            }),
          }),
        ),
      },
      handle: async ({ db }, { board }) =>
        (await listMonitors(db, board.workspaceId)).map((each) => ({ ...each, url: urlOf(each.id) })),
    }),
    writeRoute({
      method: "post",
      path: "/console/v1/monitors",
      summary: "Create a monitor",
      tag,
      role,
      body: z.strictObject({ projectId: id(), name: text({ min: 1, max: 80, isTrimmed: true }) }),
      responses: {
        201: {
          description: "The created monitor, with the secret that signs its reports",
          schema: withSecret,
        },
      },
      handle: async (deps, { write, body: { projectId, name } }) =>
        addMonitor(deps, write, await projectOf(write.trx, write.workspaceId, projectId), { name, urlOf }),
    }),
    writeRoute({
      method: "post",
      path: "/console/v1/monitors/{monitorId}/rotate",
      summary: "Replace the secret of a monitor",
      description: "Reports with the previous secret are refused. A stopped monitor works again.",
      tag,
      role,
      ...monitorInPath,
      responses: { 200: { description: "The monitor with its new secret", schema: withSecret } },
      handle: (_, { write, subject }) => rotateMonitorSecret(write, subject, urlOf),
    }),
    writeRoute({
      method: "delete",
      path: "/console/v1/monitors/{monitorId}",
      summary: "Remove a monitor",
      tag,
      role,
      ...monitorInPath,
      responses: { 204: { description: "Removed", schema: null } },
      handle: (_, { write, subject }) => deleteMonitor(write, subject),
    }),
  ];
}
