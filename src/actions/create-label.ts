import { conflict } from "../errors.ts";
import { DEFAULT_COLOR, type Color } from "../flow/colors.ts";
import { findLabel, findLabelNamed, insertLabel } from "../store/cards/labels.ts";
import type { Trx } from "../store/db/connect.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import type { Deps } from "./deps.ts";

/** Refuses a name that another label of the board has, and says which. */
export async function requireFreeName(
  trx: Trx,
  workspaceId: string,
  name: string,
  labelId?: string,
): Promise<void> {
  const holder = await findLabelNamed(trx, workspaceId, name);
  if (!holder || holder.id === labelId) return;
  throw conflict(
    `This board has the label ${JSON.stringify(holder.name)} (${holder.id}) already; case makes no difference. Use that one, or another name.`,
  );
}

/** For a label that was made at the same moment. */
export const labelNameTaken = (name: string): Error =>
  conflict(`This board has a label named ${JSON.stringify(name)} already; case makes no difference.`);

/** Adds a label to the board, gray unless a colour is chosen. Answers 201 with it. */
export async function createLabel(
  deps: Deps,
  write: Write,
  { name, color = DEFAULT_COLOR }: { readonly name: string; readonly color?: Color | undefined },
): Promise<StoredAnswer> {
  const { trx, workspaceId } = write;
  const id = deps.newId();
  await requireFreeName(trx, workspaceId, name);
  if (!(await insertLabel(trx, { id, workspaceId, name, color }))) throw labelNameTaken(name);
  return write.answer(await findLabel(trx, workspaceId, id), 201);
}
