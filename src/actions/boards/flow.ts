import { isDeepStrictEqual } from "node:util";
import { busy, conflict, invalid, requireFound } from "../../errors.ts";
import { stageOf, type Flow, type Stage } from "../../flow/flow.ts";
import {
  sharedTargetFaults,
  validateFlow,
  withGates,
  type FlowDraft,
  type FlowFault,
} from "../../flow/validate-flow.ts";
import type { Trx } from "../../store/db/connect.ts";
import {
  countCardsIn,
  lockFlow,
  listBlockedCardsOfProject,
  listUnfinishedMoves,
  saveFlow,
  findProject,
  type Project,
} from "../../store/cards/projects.ts";
import { listArmedOfProject } from "../../store/cards/armed-moves.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { recordChange } from "../../store/events/feed.ts";
import { listProjectRepositories } from "../../store/forge/repositories.ts";
import type { Deps } from "../deps.ts";
import { disarm, STAGE_CHANGED } from "../moves/armed-move.ts";
import { followNewTrunksSoon } from "../trunks/follow-trunk.ts";
import type { Write } from "../write.ts";
import { JOBS, schedule } from "../../store/jobs.ts";

/**
 * Replaces a project's flow: keeps the stages with a known id and their cards (and their gates,
 * unless the draft names gates), keeps `verification` unless the draft has it, adds stages without an id, and removes the others. Returns the
 * flow. Throws what `requireMatch` throws for the current flow, `invalid` for a flow that breaks a rule, `conflict`
 * for a removed stage that has cards, and busy while a card of the project is being moved: that
 * move was planned from the current flow.
 */
export async function replaceFlow(
  deps: Deps,
  write: Write,
  project: Project,
  draft: FlowDraft,
  requireMatch: (current: Flow) => void,
): Promise<StoredResponse> {
  requireNoFaults(validateFlow(draft));
  const { trx } = write;
  await lockFlow(trx, project.id);
  const current = requireFound(await findProject(trx, write.workspaceId, project.id), "project");
  requireMatch(current.flow);
  requireKnownStages(current.flow, draft);
  requireNoFaults(sharedTargetFaults(draft, await listProjectRepositories(trx, project.id), current.flow));
  await requireNoMoves(trx, project.id);
  const flow: Flow = {
    ...draft,
    verification: draft.verification ?? current.flow.verification,
    stages: withGates(draft.stages, current.flow).map(({ id = deps.newId(), ...stage }) => ({
      id,
      ...stage,
    })),
  };
  const removed = current.flow.stages.filter(({ id }) => !flow.stages.some((kept) => kept.id === id));
  await requireEmpty(trx, removed);
  await disarmChanged(write, current, flow);
  await saveFlow(trx, project.id, flow);
  // The new flow may not have the rule or the stage that blocked a card.
  for (const cardId of await listBlockedCardsOfProject(trx, project.id))
    await schedule(trx, JOBS.recheckBlocked, { cardId });
  await followNewTrunksSoon(trx, project.id);
  const data = { projectId: project.id, from: current.flow.stages, to: flow.stages };
  await recordChange(trx, write, { kind: "flow_changed", data });
  // Read again, because its ETag must be that of the next read.
  const saved = requireFound(await findProject(trx, write.workspaceId, project.id), "project");
  return write.respond(saved.flow);
}

/**
 * Disarms the moves into stages that the new flow lacks, or whose rule differs there.
 * The others are inspected, because a new gate may refuse them.
 */
async function disarmChanged({ trx, userId }: Write, current: Project, flow: Flow): Promise<void> {
  for (const armed of await listArmedOfProject(trx, current.id)) {
    const [before, after] = [current.flow, flow].map((each) => stageOf(each, armed.stageId)?.rule);
    if (isDeepStrictEqual(before, after)) await schedule(trx, JOBS.inspectArmed, { cardId: armed.cardId });
    else await disarm(trx, armed, STAGE_CHANGED, userId);
  }
}

function requireNoFaults(faults: readonly FlowFault[]): void {
  const [first] = faults;
  if (!first) return;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  throw invalid(
    `${first.message}${more}`,
    faults.map(({ path, message }) => ({ path: `body.${path}`, message })),
  );
}

function requireKnownStages(current: Flow, draft: FlowDraft): void {
  const known = new Set(current.stages.map(({ id }) => id));
  const issues = draft.stages.flatMap(({ id, name }, at) =>
    id === undefined || known.has(id)
      ? []
      : [
          {
            path: `body.stages.${at}.id`,
            message: `Stage ${at + 1} (${name}) has an id that this flow does not have. Leave it out to make a new stage.`,
          },
        ],
  );
  const [first] = issues;
  if (first) throw invalid(first.message, issues);
}

async function requireNoMoves(trx: Trx, projectId: string): Promise<void> {
  const moves = await listUnfinishedMoves(trx, projectId);
  const [first] = moves;
  if (!first) return;
  const queued = moves.find(({ state }) => state === "queued");
  if (queued) {
    throw busy(
      `GitHub has accepted the merge of card ${queued.number} and has not finished it. Change the flow after that, or remove its pull request from the merge queue.`,
      30,
    );
  }
  throw busy(`Card ${first.number} is being moved. Change the flow after that.`, 2);
}

async function requireEmpty(trx: Trx, removed: readonly Stage[]): Promise<void> {
  const counts = await countCardsIn(
    trx,
    removed.map(({ id }) => id),
  );
  const occupied = removed.flatMap(({ id, name }) => {
    const count = counts.get(id) ?? 0;
    return count === 0 ? [] : [`${name} still holds ${count} ${count === 1 ? "card" : "cards"}`];
  });
  if (occupied.length > 0) throw conflict(`${occupied.join(", ")}. Move the cards to another stage first.`);
}
