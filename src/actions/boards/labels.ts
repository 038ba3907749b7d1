import { conflict, requireFound } from "../../errors.ts";
import { DEFAULT_COLOR, type Color } from "../../flow/colors.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { recordChange } from "../../store/events/feed.ts";
import {
  findLabel,
  findLabelNamed,
  insertLabel,
  removeLabel,
  updateLabel,
  type Label,
} from "../../store/cards/labels.ts";
import type { Deps } from "../deps.ts";
import type { Write } from "../write.ts";

/** Adds a label to the board, gray unless a color is chosen. Returns 201 with it. */
export async function createLabel(
  deps: Deps,
  write: Write,
  { name, color = DEFAULT_COLOR }: { readonly name: string; readonly color?: Color | undefined },
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  const id = deps.newId();
  await requireFreeName(write, name);
  if (!(await insertLabel(trx, { id, workspaceId, name, color }))) throw nameTaken(name);
  await recordChange(trx, write, { kind: "label_changed", data: { from: null, to: { id, name, color } } });
  return write.respond(await findLabel(trx, workspaceId, id), 201);
}

/** Changes a label's name or color, on every card that carries it. Returns the whole label. */
export async function changeLabel(
  write: Write,
  { id, name, color }: Label,
  input: { readonly name?: string | undefined; readonly color?: Color | undefined },
): Promise<StoredResponse> {
  const { trx, workspaceId } = write;
  if (input.name !== undefined) await requireFreeName(write, input.name, id);
  if (!(await updateLabel(trx, id, input))) throw nameTaken(input.name ?? name);
  const changed = requireFound(await findLabel(trx, workspaceId, id), "label");
  await recordChange(trx, write, {
    kind: "label_changed",
    data: { from: { id, name, color }, to: labelOf(changed) },
  });
  return write.respond(changed);
}

/** Deletes a label and removes it from every card. Returns 204. */
export async function deleteLabel(write: Write, label: Label): Promise<StoredResponse> {
  await removeLabel(write.trx, label.id);
  await recordChange(write.trx, write, { kind: "label_changed", data: { from: labelOf(label), to: null } });
  return write.respond(null, 204);
}

const labelOf = ({ id, name, color }: Label): object => ({ id, name, color });

async function requireFreeName({ trx, workspaceId }: Write, name: string, labelId?: string): Promise<void> {
  const holder = await findLabelNamed(trx, workspaceId, name);
  if (!holder || holder.id === labelId) return;
  throw conflict(
    `This board has the label ${JSON.stringify(holder.name)} (${holder.id}) already; case makes no difference. Use that label, or another name.`,
  );
}

/** For a name that a concurrent request has taken. */
const nameTaken = (name: string): Error =>
  conflict(`This board has a label named ${JSON.stringify(name)} already; case makes no difference.`);
