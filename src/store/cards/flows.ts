import type { Flow, Stage } from "../../flow/flow.ts";
import { rows, type Db, type Trx } from "../db/connect.ts";

/**
 * Holds a project's flow until the transaction ends: nobody else changes it, and no card and no move enters a stage. Who is about to has
 * got through before, or waits.
 */
export async function holdFlow(trx: Trx, projectId: string): Promise<void> {
  await trx.raw("select 1 from projects where id = ? for no key update", [projectId]);
  await trx.raw("select 1 from stages where project_id = ? order by position for update", [projectId]);
}

/** Keeps a stage, and with it its project's flow, as it is until the transaction ends. Many may do that at the same time. */
export async function holdStage(trx: Trx, stageId: string): Promise<void> {
  await rows(trx, "select 1 from stages where id = :stageId for key share", { stageId });
}

export interface UnfinishedMove {
  readonly number: number;
  readonly state: "running" | "queued";
}

/** The moves of a project's cards that have not ended. */
export async function listUnfinishedMoves(db: Db, projectId: string): Promise<UnfinishedMove[]> {
  return rows<UnfinishedMove>(
    db,
    `select c.number, o.state from operations o join cards c on c.id = o.card_id
      where c.project_id = :projectId and o.state in ('running', 'queued') order by c.number`,
    { projectId },
  );
}

/** How many cards stand in each of these stages; one without any is left out. */
export async function countCardsIn(db: Db, stageIds: readonly string[]): Promise<Map<string, number>> {
  const found = await rows<{ stageId: string; count: number }>(
    db,
    `select stage_id as "stageId", count(*) from cards
      where stage_id = any(:stageIds) and deleted_at is null group by stage_id`,
    { stageIds: [...stageIds] },
  );
  return new Map(found.map(({ stageId, count }) => [stageId, count]));
}

/** The cards of a project that something stands in the way of. */
export async function listBlockedCards(db: Db, projectId: string): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    "select id from cards where project_id = :projectId and deleted_at is null and blocked is not null",
    { projectId },
  );
  return found.map(({ id }) => id);
}

/** A flow's settings as columns of its project. */
export const settingsRow = (flow: Flow): Record<string, unknown> => ({
  releases: flow.releases,
  branch_pattern: flow.branchPattern,
  merge_method: flow.mergeMethod,
  checks: flow.checks,
  stale_after_days: flow.staleAfterDays,
  agent_silence_hours: flow.agentSilenceHours,
});

export const stageRow = (projectId: string, stage: Stage, position: number): Record<string, unknown> => ({
  id: stage.id,
  project_id: projectId,
  position,
  name: stage.name,
  kind: stage.kind,
  min_role: stage.minRole,
  rule_type: stage.rule.type,
  rule_into: stage.rule.into,
});

/** Makes this the project's whole flow: known stages are kept, others added, those not in it removed. */
export async function saveFlow(trx: Trx, projectId: string, flow: Flow): Promise<void> {
  await trx("projects").where({ id: projectId }).update(settingsRow(flow));
  const kept = flow.stages.map(({ id }) => id);
  await trx("stages").where({ project_id: projectId }).whereNotIn("id", kept).delete();
  await trx("stages")
    .insert(flow.stages.map((stage, position) => stageRow(projectId, stage, position)))
    .onConflict("id")
    .merge(["position", "name", "kind", "min_role", "rule_type", "rule_into"]);
}
