import { backlogOf, ruleRequires, targetOf, type Flow, type Stage } from "../../flow/flow.ts";
import { firstCharacters } from "../../flow/text.ts";
import type { ListedPullRequest } from "../../forge/pull-requests.ts";
import { findCardOfRequest, readChangedCard, type CardHead } from "../../store/cards/cards.ts";
import { findOpenMove, MAX_INDEX } from "../../store/cards/moves.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { Trx } from "../../store/db/connect.ts";
import { transaction } from "../../store/db/transaction.ts";
import type { Repository } from "../../store/forge/repositories.ts";
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
import { lockTransition, startInTransaction, startMove, type BegunMove } from "../moves/start-move.ts";
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
  const { workspaceId, requestId } = write;
  const repository = await repositoryOf(write.trx, project, source.repositoryId);
  const named = targetStage(project, write, input.statusId);
  const earlier = await findCardOfRequest(write.trx, workspaceId, requestId);
  await write.commit();
  const created = earlier
    ? await takeUp(deps, write, earlier)
    : await create(deps, write, project, { repository, source, input, named });
  const respond = async (end: Trx): Promise<StoredResponse> =>
    write.respondIn(end, await readChangedCard(end, workspaceId, created.number), 201);
  return created.begun ? runToEnd(deps, created.begun, respond) : transaction(deps.db, respond);
}

interface CreatedCard {
  readonly number: number;
  /** Its move into the stage, if that is to be run on GitHub. */
  readonly begun: BegunMove | null;
}

interface Creation {
  readonly repository: Repository;
  readonly source: BranchSource;
  readonly input: CardOfBranchInput;
  /** The stage that the request names. */
  readonly named: Stage | undefined;
}

/** Creates the card with its branch, and begins its move, in one transaction. */
async function create(
  deps: Deps,
  write: Write,
  project: Project,
  { repository, source, input, named }: Creation,
): Promise<CreatedCard> {
  const { workspaceId, userId, requestId } = write;
  const { branchName, pull } = await resolveSource(deps, repository, source);
  const target = targetOf(project.flow, input.hotfix ?? false);
  const branch = await inspectBranch(deps, repository, branchName, target);
  const stage = named ?? stageFor(project.flow, pull);
  const fields = {
    ...input,
    ...textsOf(branchName, pull, input),
    repositoryIds: repositoriesOf(source, input),
  };
  let number = 0;
  const begun = await startInTransaction(deps, async (trx) => {
    const creator = { trx, workspaceId, userId, requestId };
    const draft = await insertDraft(trx, await prepareDraft(deps, creator, project, fields));
    ({ number } = draft);
    await adopt(trx, write, { ...draft, blocked: null }, branch);
    return draft.stageId === stage.id ? null : begin(deps, trx, write, draft, stage.id);
  });
  return { number, begun };
}

/** Continues the move of the card that an earlier attempt of the same request has created, unless it has ended. */
async function takeUp(deps: Deps, write: Write, earlier: CardHead): Promise<CreatedCard> {
  const begun = await startInTransaction(deps, async (trx) => {
    const open = await findOpenMove(trx, earlier.id);
    return open ? begin(deps, trx, write, earlier, open.stageId) : null;
  });
  return { number: earlier.number, begun };
}

/** Begins the move of a card into a stage. Null if it needs no Git, or a gate or role refuses it. */
async function begin(
  deps: Deps,
  trx: Trx,
  { userId: actorId, isHuman, requestId }: Write,
  card: Pick<CardHead, "id" | "workspaceId" | "projectId" | "number">,
  stageId: string,
): Promise<BegunMove | null> {
  const transition = await lockTransition(trx, card, stageId, requestId);
  if (!transition) throw noSuchStage("project");
  if (!(await mayEnter(trx, actorId, transition))) return null;
  const started = await startMove(deps, trx, transition, { index: MAX_INDEX, actorId, isHuman, requestId });
  return started.state === "started" ? started : null;
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
