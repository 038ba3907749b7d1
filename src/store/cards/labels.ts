import type { Color } from "../../flow/colors.ts";
import { foldName } from "../../flow/names.ts";
import { firstRow, rows, type Db } from "../db/connect.ts";
import { unlessTaken } from "../db/transaction.ts";

export interface Label {
  readonly id: string;
  readonly name: string;
  readonly color: Color;
  readonly taskCount: number;
}

/** SQL for the labels of a card as JSON, by name. `card` is an alias, never input. */
export const cardLabelsJson = (card: string): string =>
  `coalesce((select json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.folded_name)
               from card_labels cl join labels l on l.id = cl.label_id where cl.card_id = ${card}.id), '[]')`;

const LABEL = `
  select l.id, l.name, l.color,
         (select count(*) from card_labels cl join cards c on c.id = cl.card_id
           where cl.label_id = l.id and c.deleted_at is null) as "taskCount"
    from labels l`;

/** Lists the labels of a board by name. */
export async function listLabels(db: Db, workspaceId: string): Promise<Label[]> {
  return rows<Label>(db, `${LABEL} where l.workspace_id = :workspaceId order by l.folded_name`, {
    workspaceId,
  });
}

export async function findLabel(db: Db, workspaceId: string, labelId: string): Promise<Label | null> {
  return firstRow<Label>(db, `${LABEL} where l.workspace_id = :workspaceId and l.id = :labelId`, {
    workspaceId,
    labelId,
  });
}

/** Ignores the case of the name and its Unicode normalization. */
export async function findLabelNamed(db: Db, workspaceId: string, name: string): Promise<Label | null> {
  return firstRow<Label>(db, `${LABEL} where l.workspace_id = :workspaceId and l.folded_name = :foldedName`, {
    workspaceId,
    foldedName: foldName(name),
  });
}

/** False if the board has a label of this name. */
export async function insertLabel(
  db: Db,
  label: { id: string; workspaceId: string; name: string; color: Color },
): Promise<boolean> {
  const { id, workspaceId, name, color } = label;
  return unlessTaken(
    db("labels").insert({ id, workspace_id: workspaceId, name, folded_name: foldName(name), color }),
  );
}

/** Updates the fields that are present. False if another label of the board has the name. */
export async function updateLabel(
  db: Db,
  labelId: string,
  { name, color }: { name?: string | undefined; color?: Color | undefined },
): Promise<boolean> {
  const changes = {
    ...(name !== undefined && { name, folded_name: foldName(name) }),
    ...(color !== undefined && { color }),
  };
  if (Object.keys(changes).length === 0) return true;
  return unlessTaken(db("labels").where({ id: labelId }).update(changes));
}

/** Deletes a label, also from its cards. */
export async function removeLabel(db: Db, labelId: string): Promise<void> {
  await db("labels").where({ id: labelId }).delete();
}
