import { z } from "zod";
import { requireFound } from "../../errors.ts";
import type { Db } from "../../store/db/connect.ts";
import type { BoardRole } from "../../store/tenancy/credentials.ts";
import { id } from "../validate.ts";

/** The query of a route that concerns one project of the board. */
export const projectQuery = z.object({
  projectId: id().optional().meta({ description: "Required if the board has several projects" }),
});

/** Finds the board's resource with the id in the path, or throws `not_found`. */
export const byId =
  <Name extends string, Found>(
    name: Name,
    find: (db: Db, workspaceId: string, id: string) => Promise<Found | null>,
    what: string,
  ) =>
  async (db: Db, board: BoardRole, params: Readonly<Record<Name, string>>): Promise<Found> =>
    requireFound(await find(db, board.workspaceId, params[name]), what);
