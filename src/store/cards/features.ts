import type { Color } from "../../flow/colors.ts";
import { exists, firstRow, rows, updatePresent, type Db, type Trx } from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { readPage, type ListSlice, type ListWindow } from "../db/list-window.ts";

export interface Feature {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly color: Color;
  readonly taskCount: number;
  /** The number of its cards at the end of their flow. */
  readonly doneCount: number;
  readonly archived: boolean;
  /** Without gaps. Archived features come last. */
  readonly position: number;
}

const PLACED = `
  select f.*, row_number() over (order by f.archived, f.position, f.id) - 1 as place
    from features f where f.workspace_id = :workspaceId`;

const FEATURE = `
  with placed as (${PLACED})
  select p.id, p.name, p.description, p.color, p.archived, p.place as position,
         (select count(*) from cards c where c.feature_id = p.id and c.deleted_at is null) as "taskCount",
         (select count(*) from cards c join stages s on s.id = c.stage_id
           where c.feature_id = p.id and c.deleted_at is null and s.kind = 'done') as "doneCount"
    from placed p`;

/** The id of a feature and its position. If it was deleted, the list continues at the position. */
export type FeaturePlace = readonly [id: string, position: number];

/** Lists the features of a board in order. */
export async function listFeatures(
  db: Db,
  workspaceId: string,
  withArchived: boolean,
  window: ListWindow<FeaturePlace>,
): Promise<ListSlice<Feature, FeaturePlace>> {
  const [after, position] = window.after ?? [null, 0];
  return readPage<Feature, FeaturePlace>(db, window, {
    sql: `${FEATURE}
      where (:withArchived or not p.archived)
        and p.place >= coalesce((select l.place + 1 from placed l where l.id = :after), :position)
      order by p.place`,
    bindings: { workspaceId, withArchived, after, position },
    bytes: "octet_length(description)",
    keyOf: (feature) => [feature.id, feature.position],
  });
}

export async function findFeature(db: Db, workspaceId: string, featureId: string): Promise<Feature | null> {
  return firstRow<Feature>(db, `${FEATURE} where p.id = :featureId`, { workspaceId, featureId });
}

/** Locks the order of a board's features until the transaction ends. */
async function lockOrder(trx: Trx, workspaceId: string): Promise<void> {
  await lockName(trx, `features:${workspaceId}`);
}

/** Adds a feature at the end. */
export async function insertFeature(
  trx: Trx,
  feature: { id: string; workspaceId: string; name: string; description: string; color: Color },
): Promise<void> {
  await lockOrder(trx, feature.workspaceId);
  await trx.raw(
    `insert into features (id, workspace_id, name, description, color, position)
     select cast(:id as uuid), cast(:workspaceId as uuid), :name, :description, :color, coalesce(max(position) + 1, 0)
       from features where workspace_id = :workspaceId`,
    feature,
  );
}

export interface FeatureChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly color?: Color | undefined;
  readonly archived?: boolean | undefined;
}

/** Updates the fields that are present. */
export async function updateFeature(db: Db, featureId: string, changes: FeatureChanges): Promise<void> {
  await updatePresent(db, "features", featureId, changes);
}

/** Moves a feature among the archived or the other features. A place past the end is the end. */
export async function placeFeature(
  trx: Trx,
  workspaceId: string,
  featureId: string,
  place: number,
): Promise<void> {
  await lockOrder(trx, workspaceId);
  const all = await rows<{ id: string; archived: boolean }>(
    trx,
    "select id, archived from features where workspace_id = :workspaceId order by position, id",
    { workspaceId },
  );
  const moved = all.find(({ id }) => id === featureId);
  if (!moved) return;
  const others = all.filter((feature) => feature !== moved);
  const peers = others.filter(({ archived }) => archived === moved.archived);
  const ahead = moved.archived ? others.length - peers.length : 0;
  const next = peers[Math.max(place - ahead, 0)];
  const at = next ? others.indexOf(next) : others.length;
  await trx.raw(
    `update features f set position = o.position
       from unnest(cast(:ids as uuid[])) with ordinality as o (id, position) where f.id = o.id`,
    { ids: others.toSpliced(at, 0, moved).map(({ id }) => id) },
  );
}

/** Deletes a feature. Its cards remain. */
export async function removeFeature(db: Db, featureId: string): Promise<void> {
  await db("features").where({ id: featureId }).delete();
}

/** Finds a feature and prevents its deletion until the transaction ends. */
export async function lockFeature(db: Db, workspaceId: string, featureId: string): Promise<boolean> {
  const feature =
    "select id from features where workspace_id = :workspaceId and id = :featureId for key share";
  return exists(db, feature, { workspaceId, featureId });
}
