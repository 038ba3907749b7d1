import { backlogOf, ruleRequires, targetOf, type Flow, type Stage } from "../../flow/flow.ts";
import { firstCharacters } from "../../flow/text.ts";
import type { ListedPullRequest } from "../../forge/pull-requests.ts";
import { findCardOfRequest, readChangedCard, type CardHead } from "../../store/cards/cards.ts";
import { MAX_INDEX } from "../../store/cards/moves.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import type { Deps } from "../deps.ts";
import {
  adopt,
  inspectBranch,
  repositoryOf,
  resolveSource,
  type BranchSource,
} from "../moves/adopt-branch.ts";
import { runToEnd } from "../moves/finish-move.ts";
import { mayEnter, noSuchStage } from "../moves/may-enter.ts";
import { lockTransition, startInTransaction, startMove } from "../moves/start-move.ts";
import type { Write } from "../write.ts";
import { insertDraft, prepareDraft, targetStage, type CreateCardInput } from "./create-card.ts";

/** The longest description of a card, in characters. */
export const MAX_DESCRIPTION = 20_000;

/** Without a title, the card gets that of the pull request, or the name of the branch. */
export type CardOfBranchInput = Omit<CreateCardInput, "title"> & { readonly title?: string | undefined };

/**
 * Creates a card that owns an existing branch, with its open pull request, and moves it into the given
 * stage, or into the one that the pull request is ready for. If GitHub or a gate refuses the move, the card
 * stays in the backlog, blocked. Returns 201 with the card. Throws `conflict` if the branch is gone or
 * belongs to another card.
 */
export async function createCardFromBranch(
  deps: Deps,
  write: Write,
  project: Project,
  source: BranchSource,
  input: CardOfBranchInput,
): Promise<StoredResponse> {
  const { workspaceId, userId, userId: actorId, isHuman, requestId } = write;
  const repository = await repositoryOf(write.trx, project, source.repositoryId);
  const named = targetStage(project, write, input.statusId);
  // A retry after a crash continues with the card that the first attempt has created.
  const earlier = await findCardOfRequest(write.trx, workspaceId, requestId);
  await write.commit();
  const { branchName, pull } = await resolveSource(deps, repository, source);
  const target = targetOf(project.flow, input.hotfix ?? false);
  const branch = await inspectBranch(deps, repository, branchName, target);
  const stage = named ?? stageFor(project.flow, pull);
  const creation = {
    ...input,
    ...textsOf(branchName, pull, input),
    repositoryIds: repositoriesOf(source, input),
  };
  let number = earlier?.number ?? 0;
  const begun = await startInTransaction(deps, async (trx) => {
    const create = async (): Promise<CardHead> => {
      const creator = { trx, workspaceId, userId, requestId };
      const draft = await insertDraft(trx, await prepareDraft(deps, creator, project, creation));
      const card = { ...draft, blocked: null };
      await adopt(trx, write, card, branch);
      return card;
    };
    const card = earlier ?? (await create());
    ({ number } = card);
    if (card.stageId === stage.id) return null;
    const transition = await lockTransition(trx, card, stage.id, requestId);
    if (!transition) throw noSuchStage("project");
    if (!(await mayEnter(trx, actorId, transition))) return null;
    const started = await startMove(deps, trx, transition, { index: MAX_INDEX, actorId, isHuman, requestId });
    return started.state === "started" ? started : null;
  });
  const respond = async (end: Trx): Promise<StoredResponse> =>
    write.respondIn(end, await readChangedCard(end, workspaceId, number), 201);
  return begun ? runToEnd(deps, begun, respond) : transaction(deps.db, respond);
}

const repositoriesOf = (
  { repositoryId }: BranchSource,
  { repositoryIds = [] }: CardOfBranchInput,
): string[] => [...new Set([repositoryId, ...repositoryIds])];

const textsOf = (
  branchName: string,
  pull: ListedPullRequest | null,
  { title, description }: CardOfBranchInput,
): { readonly title: string; readonly description: string } => ({
  title: title ?? (pull?.title.trim() || branchName),
  description: description ?? firstCharacters(pull?.body ?? "", MAX_DESCRIPTION),
});

/** A draft is worked on, and so is a branch without a pull request; an open pull request is in review. */
function stageFor({ stages, ...flow }: Flow, pull: ListedPullRequest | null): Stage {
  const reviewed =
    pull && !pull.isDraft ? stages.find(({ rule }) => rule.type === "pull_request") : undefined;
  const worked = stages.find(({ rule }) => rule.type !== "merge" && ruleRequires(rule, "branch"));
  return reviewed ?? worked ?? backlogOf({ ...flow, stages });
}
