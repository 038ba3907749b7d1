import { z } from "zod";
import { requireFound } from "../../errors.ts";
import type { Db } from "../../store/db/connect.ts";
import type { TimePlace } from "../../store/db/list-window.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { id } from "../validate.ts";

/** The query of a route that concerns one project of the board. */
export const projectQuery = z.object({
  projectId: id().optional().meta({ description: "Required if the board has several projects" }),
});

/** The content of a cursor of a list that is sorted by time. */
export const timePlace: z.ZodType<TimePlace> = z
  .tuple([
    // PostgreSQL has no year 0.
    z.iso.datetime().refine((at) => !at.startsWith("0000")),
    z.guid(),
  ])
  .readonly();

/** Finds the board's resource with the id in the path, or throws `not_found`. */
export const byId =
  <Name extends string, Found>(
    name: Name,
    find: (db: Db, workspaceId: string, id: string) => Promise<Found | null>,
    what: string,
  ) =>
  async (db: Db, board: BoardRole, params: Readonly<Record<Name, string>>): Promise<Found> =>
    requireFound(await find(db, board.workspaceId, params[name]), what);
