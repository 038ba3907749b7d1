import { backlogOf, stageOf, type Stage } from "../../flow/flow.ts";
import { findCardOfRequest, insertCard, readChangedCard, type NewCard } from "../../store/cards/cards.ts";
import { setRelated } from "../../store/cards/card-relations.ts";
import { insertDefaultLinks, insertLinks } from "../../store/cards/links.ts";
import { rankAtEnd } from "../../store/cards/placing.ts";
import { lockProject, type Project } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { allInOrder } from "../../store/db/transaction.ts";
import { recordEvents } from "../../store/events/timeline.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { MAX_INDEX } from "../../store/cards/moves.ts";
import { takeCardNumber } from "../../store/tenancy/workspaces.ts";
import { noSuchStage, requireRoleFor } from "../moves/may-enter.ts";
import type { Deps } from "../deps.ts";
import { startMove, lockTransition } from "../moves/start-move.ts";
import { commitStart } from "../lease.ts";
import { runToEnd } from "../moves/finish-move.ts";
import type { Caller, Write } from "../write.ts";
import {
  lockGrouping,
  lockCardPages,
  saveCardPages,
  findRelations,
  type CardInput,
} from "./card-relations.ts";
import { requireProjectRepositories } from "./relink-card.ts";

export interface CreateCardInput extends CardInput {
  readonly title: string;
  readonly hotfix?: boolean | undefined;
  /** The stage to move it to; without one it stays a draft in the backlog. */
  readonly statusId?: string | undefined;
}

/**
 * Creates a card as a draft, and moves it into the given stage. If GitHub or a gate refuses the
 * move, the card stays in the backlog, blocked. Returns 201 with the card.
 */
export async function createCard(
  deps: Deps,
  write: Write,
  project: Project,
  input: CreateCardInput,
): Promise<StoredResponse> {
  const { trx, workspaceId, userId: actorId, isHuman, requestId } = write;
  const backlog = backlogOf(project.flow);
  const stage = targetStage(project, write, input.statusId) ?? backlog;
  if (stage.id === backlog.id) {
    const draft = await prepareDraft(deps, write, project, input);
    const [, card] = await allInOrder([
      insertDraft(trx, draft),
      readChangedCard(trx, workspaceId, draft.number),
    ]);
    return write.respond(card, 201);
  }
  const earlier = await findCardOfRequest(trx, workspaceId, requestId);
  const created = earlier ?? (await insertDraft(trx, await prepareDraft(deps, write, project, input)));
  const { number } = created;
  const transition = await lockTransition(trx, created, stage.id, requestId);
  if (!transition) throw noSuchStage("project");
  const begun = await startMove(deps, trx, transition, { index: MAX_INDEX, actorId, isHuman, requestId });
  const readCreated = (end: Trx) => readChangedCard(end, workspaceId, number);
  if (begun.state !== "started") return write.respond(await readCreated(trx), 201);
  await commitStart(deps, write, begun.move);
  return runToEnd(deps, begun, async (end) => write.respondIn(end, await readCreated(end), 201));
}

type Creator = Pick<Write, "trx" | "workspaceId" | "userId" | "requestId">;

interface Draft extends NewCard {
  /** Null for those that the project links by default. */
  readonly repositoryIds: readonly string[] | null;
  readonly input: CreateCardInput;
}

/**
 * Checks what a new card refers to, and takes its rank and number. Locks in the order of all
 * transactions: the project, so that it keeps its repositories; labels, feature and pages; the
 * column; the board.
 */
export async function prepareDraft(
  deps: Deps,
  { trx, workspaceId, userId, requestId }: Creator,
  project: Project,
  input: CreateCardInput,
): Promise<Draft> {
  const stageId = backlogOf(project.flow).id;
  const [relations, , repositoryIds, , , rank, number] = await allInOrder([
    findRelations(trx, workspaceId, input),
    lockProject(trx, project.id, "share"),
    input.repositoryIds ? requireProjectRepositories(trx, project.id, input.repositoryIds) : null,
    lockGrouping(trx, workspaceId, input),
    lockCardPages(trx, workspaceId, input),
    rankAtEnd(trx, stageId),
    takeCardNumber(trx, workspaceId),
  ]);
  return {
    id: deps.newId(),
    workspaceId,
    projectId: project.id,
    number,
    title: input.title,
    description: input.description ?? "",
    stageId,
    rank,
    priority: input.priority ?? "none",
    assigneeId: relations.assigneeId ?? null,
    parentId: relations.parentId ?? null,
    featureId: input.featureId ?? null,
    dueDate: input.dueDate ?? null,
    hotfix: input.hotfix ?? false,
    createdBy: userId,
    requestId,
    repositoryIds,
    input,
  };
}

export async function insertDraft(trx: Trx, draft: Draft): Promise<Draft> {
  const { repositoryIds, input, ...card } = draft;
  const { id: cardId, workspaceId, projectId, stageId, number, createdBy } = card;
  await allInOrder([
    insertCard(trx, card),
    repositoryIds ? insertLinks(trx, cardId, repositoryIds) : insertDefaultLinks(trx, cardId, projectId),
    input.labelIds && setRelated(trx, "labels", cardId, input.labelIds),
    saveCardPages(trx, workspaceId, cardId, input),
    recordEvents(trx, [
      {
        cardId,
        kind: "created",
        actor: { userId: createdBy, login: null },
        data: { number },
        inFeed: { kind: "card_created", data: { from: null, to: { projectId, statusId: stageId } } },
      },
    ]),
  ]);
  return draft;
}

/** The stage that a request names. Throws `not_found` for another flow's, and `forbidden` without its role. */
export function targetStage(
  project: Project,
  caller: Caller,
  statusId: string | undefined,
): Stage | undefined {
  if (statusId === undefined) return undefined;
  const stage = stageOf(project.flow, statusId);
  if (!stage) throw noSuchStage("project");
  requireRoleFor(caller, stage);
  return stage;
}
