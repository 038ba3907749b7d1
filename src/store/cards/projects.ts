import type { Flow, Gates, Stage } from "../../flow/flow.ts";
import {
  columnsOf,
  column,
  exists,
  firstRow,
  rows,
  updatePresent,
  type Db,
  type Trx,
} from "../db/connect.ts";
import { lockName } from "../db/lock-name.ts";
import { readPage, type ListSlice, type ListWindow, type TimePlace } from "../db/list-window.ts";

/** Locks a project's flow until the transaction ends: no card or move enters a stage. */
export async function lockFlow(trx: Trx, projectId: string): Promise<void> {
  await trx.raw("select 1 from projects where id = ? for no key update", [projectId]);
  await trx.raw("select 1 from stages where project_id = ? order by position for update", [projectId]);
}

/**
 * Prevents changes of the stage's flow until the transaction ends. Unlike `lockColumn`, other
 * transactions may hold this lock too.
 */
export async function lockFlowOfStage(trx: Trx, stageId: string): Promise<void> {
  await rows(trx, "select 1 from stages where id = :stageId for key share", { stageId });
}

interface UnfinishedMove {
  readonly number: number;
  readonly state: "running" | "queued";
}

/** Lists the unfinished moves of a project's cards. */
export async function listUnfinishedMoves(db: Db, projectId: string): Promise<UnfinishedMove[]> {
  return rows<UnfinishedMove>(
    db,
    `select c.number, o.state from operations o join cards c on c.id = o.card_id
      where c.project_id = :projectId and o.state in ('running', 'queued') order by c.number`,
    { projectId },
  );
}

/** Counts the cards of each stage. Stages without cards are not included. */
export async function countCardsIn(db: Db, stageIds: readonly string[]): Promise<Map<string, number>> {
  const found = await rows<{ stageId: string; count: number }>(
    db,
    `select stage_id as "stageId", count(*) from cards
      where stage_id = any(:stageIds) and deleted_at is null group by stage_id`,
    { stageIds: [...stageIds] },
  );
  return new Map(found.map(({ stageId, count }) => [stageId, count]));
}

export async function listBlockedCardsOfProject(db: Db, projectId: string): Promise<string[]> {
  return column<string>(
    db,
    "select id from cards where project_id = :projectId and deleted_at is null and blocked is not null",
    { projectId },
  );
}

const settingsRow = ({ stages: _stages, verification, ...settings }: Flow) =>
  columnsOf({ ...settings, ...verification });

const NO_GATES: Gates = { wipLimit: null, humanOnly: false, secondPerson: false };

const stageRow = (projectId: string, { rule, gates = NO_GATES, ...stage }: Stage, position: number) =>
  columnsOf({ ...stage, ...gates, projectId, position, ruleType: rule.type, ruleInto: rule.into });

const GATE_COLUMNS = ["wip_limit", "human_only", "second_person"];

/** Replaces the flow of a project. Stages with the same id are updated. */
export async function saveFlow(trx: Trx, projectId: string, flow: Flow): Promise<void> {
  await trx("projects").where({ id: projectId }).update(settingsRow(flow));
  const kept = flow.stages.map(({ id }) => id);
  await trx("stages").where({ project_id: projectId }).whereNotIn("id", kept).delete();
  await trx("stages")
    .insert(flow.stages.map((stage, position) => stageRow(projectId, stage, position)))
    .onConflict("id")
    .merge(["position", "name", "kind", "min_role", "rule_type", "rule_into", ...GATE_COLUMNS]);
}

export interface Project {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly flow: Flow;
}

const STAGE_FIELDS = `
  'id', s.id, 'name', s.name, 'kind', s.kind, 'minRole', s.min_role,
  'rule', json_build_object('type', s.rule_type, 'into', s.rule_into)`;

const GATES = `json_build_object('wipLimit', s.wip_limit, 'humanOnly', s.human_only, 'secondPerson', s.second_person)`;

const PROJECT = `
  select p.id, p.workspace_id as "workspaceId", p.name,
         json_build_object(
           'releases', p.releases, 'branchPattern', p.branch_pattern, 'mergeMethod', p.merge_method,
           'checks', p.checks, 'staleAfterDays', p.stale_after_days, 'agentSilenceHours', p.agent_silence_hours,
           'verification', json_build_object(
             'independentApproval', p.independent_approval, 'bypassRules', p.bypass_rules,
             'checksStartSeconds', p.checks_start_seconds),
           'stages', (select json_agg(case when s.wip_limit is null and not s.human_only and not s.second_person
                                         then json_build_object(${STAGE_FIELDS})
                                         else json_build_object(${STAGE_FIELDS}, 'gates', ${GATES}) end
                             order by s.position)
                        from stages s where s.project_id = p.id)) as flow
    from projects p`;

export async function findProject(db: Db, workspaceId: string, projectId: string): Promise<Project | null> {
  return firstRow<Project>(db, `${PROJECT} where p.workspace_id = :workspaceId and p.id = :projectId`, {
    workspaceId,
    projectId,
  });
}

/** Lists the projects of a board, the oldest first. */
export async function listProjectsWithFlow(db: Db, workspaceId: string): Promise<Project[]> {
  return rows<Project>(db, `${PROJECT} where p.workspace_id = :workspaceId order by p.created_at, p.id`, {
    workspaceId,
  });
}

export async function findBranchNaming(
  db: Db,
  projectId: string,
): Promise<{ readonly workspaceId: string; readonly branchPattern: string } | null> {
  return firstRow(
    db,
    `select workspace_id as "workspaceId", branch_pattern as "branchPattern" from projects where id = :projectId`,
    { projectId },
  );
}

/** A project as the API shows it. */
export interface ProjectEntry {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly repositoryCount: number;
  readonly taskCount: number;
  readonly createdAt: Date;
}

const ENTRY = `
  select p.id, p.name, p.slug, p.description, p.created_at as "createdAt",
         (select count(*) from repositories r where r.project_id = p.id) as "repositoryCount",
         (select count(*) from cards c where c.project_id = p.id and c.deleted_at is null) as "taskCount"
    from projects p where p.workspace_id = :workspaceId`;

/** Lists the projects of a board, the oldest first. */
export async function listProjects(db: Db, workspaceId: string): Promise<ProjectEntry[]> {
  return rows<ProjectEntry>(db, `${ENTRY} order by p.created_at, p.id`, { workspaceId });
}

/** Reads a page of the projects of a board, the oldest first. */
export async function listProjectPage(
  db: Db,
  workspaceId: string,
  window: ListWindow<TimePlace>,
): Promise<ListSlice<ProjectEntry, TimePlace>> {
  const [at, id] = window.after ?? [null, null];
  return readPage<ProjectEntry, TimePlace>(db, window, {
    sql: `${ENTRY}
      and (cast(:at as timestamptz) is null
           or (date_trunc('milliseconds', p.created_at), p.id) > (cast(:at as timestamptz), cast(:id as uuid)))
      order by date_trunc('milliseconds', p.created_at), p.id`,
    bindings: { workspaceId, at, id },
    bytes: "octet_length(description)",
    keyOf: (project) => [project.createdAt.toISOString(), project.id],
  });
}

export async function readProject(
  db: Db,
  workspaceId: string,
  projectId: string,
): Promise<ProjectEntry | null> {
  return firstRow<ProjectEntry>(db, `${ENTRY} and p.id = :projectId`, { workspaceId, projectId });
}

/** Locks the set of a board's projects and their slugs until the transaction ends. */
export async function lockProjectList(trx: Trx, workspaceId: string): Promise<void> {
  await lockName(trx, `projects:${workspaceId}`);
}

interface NewProject {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly slug: string;
  readonly description?: string;
  readonly flow: Flow;
}

export async function insertProject(db: Db, project: NewProject): Promise<void> {
  const { id, workspaceId, name, slug, description = "", flow } = project;
  const row = { id, workspace_id: workspaceId, name, slug, description };
  await db("projects").insert({ ...row, ...settingsRow(flow) });
  await db("stages").insert(flow.stages.map((stage, position) => stageRow(id, stage, position)));
}

export interface ProjectChanges {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly description?: string | undefined;
}

/** Updates the fields that are present. */
export async function updateProject(db: Db, projectId: string, changes: ProjectChanges): Promise<void> {
  await updatePresent(db, "projects", projectId, changes);
}

/**
 * Locks a project until the transaction ends. False if it is deleted. `share` prevents changes and
 * allows other shared locks, `no key update` is for changes, and `update` also prevents new cards.
 */
export async function lockProject(
  trx: Trx,
  projectId: string,
  strength: "share" | "no key update" | "update",
): Promise<boolean> {
  return exists(trx, `select id from projects where id = :projectId for ${strength}`, { projectId });
}

/** Deletes a project with its flow, and releases its repositories. */
export async function removeProject(trx: Trx, projectId: string): Promise<void> {
  await trx("repositories")
    .where({ project_id: projectId })
    .update({ project_id: null, link_by_default: false });
  await trx("projects").where({ id: projectId }).delete();
}
