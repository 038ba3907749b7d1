import { Problem } from "../../errors.ts";

const UNIQUE = "23505";
const FOREIGN_KEY = "23503";
const NOT_NULL = "23502";

/** Of PostgreSQL's errors, what tells them apart. */
const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
const constraintOf = (error: unknown): unknown =>
  error instanceof Error && "constraint" in error ? error.constraint : undefined;

/** Whether a statement was undone because a row stands in its way, one that it refers to has gone, or a value that it needs could not be made. */
export const isUndone = (error: unknown): boolean =>
  [UNIQUE, FOREIGN_KEY, NOT_NULL].includes(String(codeOf(error)));

/** True once `work` is done, false when a row with such a value is there already; its transaction can then only be undone. */
export async function unlessTaken(work: PromiseLike<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (codeOf(error) === UNIQUE) return false;
    throw error;
  }
}

/** The ties of a card and its move to the project and the stage they are in. */
const WHEREABOUTS = new Set<unknown>([
  "cards_project_id_fkey",
  "cards_stage_id_fkey",
  "operations_stage_id_fkey",
]);

/** Does `work`; throws busy where the stage or the project it leads to was removed after it had been looked up. */
export async function whileItStands<T>(work: PromiseLike<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) !== FOREIGN_KEY || !WHEREABOUTS.has(constraintOf(error))) throw error;
    throw new Problem("busy", "The flow of this project has just been changed. Make the same call again.", {
      retryAfter: 1,
      cause: error,
    });
  }
}
