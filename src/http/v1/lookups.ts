import { z } from "zod";
import type { Db } from "../../store/connect.ts";
import type { BoardRole } from "../../store/credentials.ts";
import { id } from "../validate.ts";

/** The query of a route about one project of the board. */
export const projectQuery = z.object({
  projectId: id().optional().meta({ description: "Required when the board holds several projects" }),
});

/** Finds on the board what a path parameter names by its id, or throws what `missing` makes. */
export const byId =
  <Name extends string, Found>(
    name: Name,
    find: (db: Db, workspaceId: string, id: string) => Promise<Found | null>,
    missing: () => Error,
  ) =>
  async (db: Db, board: BoardRole, params: Readonly<Record<Name, string>>): Promise<Found> => {
    const found = await find(db, board.workspaceId, params[name]);
    if (found === null) throw missing();
    return found;
  };
