import { invalid } from "../errors.ts";
import { backlogOf, stageOf, type Stage } from "../flow/flow.ts";
import { wikiLinksOf } from "../flow/wiki-links.ts";
import type { AtOnce } from "../store/at-once.ts";
import { createDraftAtOnce } from "../store/card-creation.ts";
import { findCardOfRequest, insertCard, readCard, type Priority } from "../store/cards.ts";
import type { Trx } from "../store/connect.ts";
import { setCardLabels } from "../store/labels.ts";
import { insertLinks } from "../store/links.ts";
import { rankAtEnd } from "../store/placing.ts";
import { lockProject, type Project } from "../store/projects.ts";
import { listProjectRepositories } from "../store/repositories.ts";
import { recordEvents } from "../store/timeline.ts";
import { takeCardNumber } from "../store/workspaces.ts";
import { holdGrouping, type GroupingInput } from "./card-grouping.ts";
import { holdCardPages, saveCardPages, type CardPagesInput } from "./card-pages.ts";
import { cardRelations, type RelationInput, type Relations } from "./card-relations.ts";
import type { Answered, Caller, KeyedAsker } from "./caller.ts";
import type { Deps } from "./deps.ts";
import { moveNewCard } from "./move-card.ts";
import { knownRepositories } from "./relink-card.ts";
import { requireRoleFor } from "./require-role.ts";

export interface CreateCardInput extends RelationInput, GroupingInput, CardPagesInput {
  readonly title: string;
  readonly priority?: Priority | undefined;
  readonly dueDate?: string | null | undefined;
  readonly hotfix?: boolean | undefined;
  /** The stage to move it to at once; without one it stays a draft in the backlog. */
  readonly statusId?: string | undefined;
  /** The repositories it is linked to; without them, those the project links by default. */
  readonly repositoryIds?: readonly string[] | undefined;
}

/**
 * Creates a card as a draft and, where a stage is named, moves it there. When the forge refuses that move the card is still created: it
 * stands in the backlog, blocked. Answers 201 with the card.
 */
export async function createCard(
  deps: Deps,
  caller: Caller,
  project: Project,
  input: CreateCardInput,
): Promise<Answered> {
  const backlog = backlogOf(project.flow);
  const stage = targetStage(project, caller, input.statusId);
  const relations = await cardRelations(deps.db, caller.workspaceId, input);
  const isDraft = stage === undefined || stage.id === backlog.id;
  const created = await deps.db.transaction(async (trx) => {
    const earlier = await findCardOfRequest(trx, caller.workspaceId, caller.requestId);
    const number = earlier ?? (await insertDraft(deps, trx, caller, project, { ...input, relations }));
    if (!isDraft) return { number };
    return { answered: await caller.answer(trx, await readCard(trx, caller.workspaceId, number), 201) };
  });
  if (created.answered) return created.answered;
  return moveNewCard(deps, caller, created.number, stage ?? backlog);
}

/** Fields that are columns of the card, and that nothing else follows from. */
const PLAIN = new Set([
  "title",
  "description",
  "priority",
  "assigneeId",
  "dueDate",
  "hotfix",
  "repositoryIds",
]);

/** Creates a draft in one statement, where all fields given are plain ones; without `projectId` in the board's only project. */
export async function draftCard(
  deps: Deps,
  asker: KeyedAsker,
  projectId: string | undefined,
  input: CreateCardInput,
): Promise<AtOnce> {
  const { title, description = "", priority = "none", repositoryIds } = input;
  const isPlain = Object.keys(input).every((field) => PLAIN.has(field));
  const isLinkedByHand = repositoryIds !== undefined && repositoryIds.length > 0;
  if (!isPlain || isLinkedByHand || wikiLinksOf(description).length > 0) return null;
  return createDraftAtOnce(deps.db, asker, {
    id: deps.newId(),
    workspaceId: asker.workspaceId,
    projectId: projectId ?? null,
    title,
    description,
    priority,
    assigneeId: input.assigneeId ?? null,
    dueDate: input.dueDate ?? null,
    hotfix: input.hotfix ?? false,
    isLinked: repositoryIds === undefined,
    createdBy: asker.userId,
    eventId: deps.newId(),
  });
}

type DraftInput = CreateCardInput & { readonly relations: Relations };

async function insertDraft(
  deps: Deps,
  trx: Trx,
  caller: Caller,
  project: Project,
  input: DraftInput,
): Promise<number> {
  await lockProject(trx, project.id, "share");
  const repositoryIds = await repositoriesOf(trx, project, input.repositoryIds);
  await holdGrouping(trx, caller.workspaceId, input);
  await holdCardPages(trx, caller.workspaceId, input);
  const cardId = deps.newId();
  const stageId = backlogOf(project.flow).id;
  const rank = await rankAtEnd(trx, stageId);
  const number = await takeCardNumber(trx, caller.workspaceId);
  await insertCard(trx, {
    id: cardId,
    workspaceId: caller.workspaceId,
    projectId: project.id,
    number,
    title: input.title,
    description: input.description ?? "",
    stageId,
    rank,
    priority: input.priority ?? "none",
    assigneeId: input.relations.assigneeId ?? null,
    parentId: input.relations.parentId ?? null,
    featureId: input.featureId ?? null,
    dueDate: input.dueDate ?? null,
    hotfix: input.hotfix ?? false,
    createdBy: caller.userId,
    requestId: caller.requestId,
  });
  await insertLinks(trx, cardId, repositoryIds);
  await setCardLabels(trx, cardId, input.labelIds ?? []);
  await saveCardPages(trx, caller.workspaceId, cardId, input);
  await recordEvents(trx, [
    { cardId, kind: "created", actor: { userId: caller.userId, login: null }, data: { number } },
  ]);
  return number;
}

function targetStage(project: Project, caller: Caller, statusId: string | undefined): Stage | undefined {
  if (statusId === undefined) return undefined;
  const stage = stageOf(project.flow, statusId);
  if (!stage) {
    throw invalid("The project's flow has no stage with this id. GET /v1/board lists the stages.", [
      { path: "body.statusId", message: "not a stage of this project" },
    ]);
  }
  requireRoleFor(caller, stage);
  return stage;
}

async function repositoriesOf(
  trx: Trx,
  project: Project,
  asked: readonly string[] | undefined,
): Promise<string[]> {
  if (asked) return knownRepositories(trx, project.id, asked);
  const ofProject = await listProjectRepositories(trx, project.id);
  return ofProject.filter(({ linkByDefault }) => linkByDefault).map(({ id }) => id);
}
