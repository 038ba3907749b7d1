import { busy, conflict, invalid, notFound } from "../errors.ts";
import type { Flow, Stage } from "../flow/flow.ts";
import { sharedTargetFaults, validateFlow, type FlowDraft, type FlowFault } from "../flow/validate-flow.ts";
import type { Trx } from "../store/db/connect.ts";
import {
  countCardsIn,
  holdFlow,
  listBlockedCards,
  listUnfinishedMoves,
  saveFlow,
  findProject,
  type Project,
} from "../store/cards/projects.ts";
import { listProjectRepositories } from "../store/forge/repositories.ts";
import type { StoredAnswer } from "../store/ops/idempotency.ts";
import type { Write } from "./write.ts";
import type { Deps } from "./deps.ts";
import { followNewTrunksSoon } from "./follow-trunk.ts";
import { recheckSoon } from "./recheck-blocked.ts";

/**
 * Replaces a project's flow as a whole: stages named by their id are kept, with their cards, those without one are new, and the others
 * are removed. Answers with the flow. Throws `invalid` for a flow that cannot be, `conflict` for a stage that still holds cards, and
 * busy while a card of the project is being moved, because that move was planned from the flow as it is.
 */
export async function replaceFlow(
  deps: Deps,
  write: Write,
  project: Project,
  draft: FlowDraft,
): Promise<StoredAnswer> {
  requireNone(validateFlow(draft));
  const { trx } = write;
  await holdFlow(trx, project.id);
  const current = await findProject(trx, write.workspaceId, project.id);
  if (!current) throw notFound("There is no project with this id on this board.");
  requireOwnStages(current.flow, draft);
  requireNone(sharedTargetFaults(draft, await listProjectRepositories(trx, project.id), current.flow));
  await requireNoMoves(trx, project.id);
  const flow: Flow = {
    ...draft,
    stages: draft.stages.map(({ id = deps.newId(), ...stage }) => ({ id, ...stage })),
  };
  const kept = new Set(flow.stages.map(({ id }) => id));
  await requireEmpty(
    trx,
    current.flow.stages.filter(({ id }) => !kept.has(id)),
  );
  await saveFlow(trx, project.id, flow);
  // What stood in a card's way may be gone with the rule, or the stage, that asked for it.
  for (const cardId of await listBlockedCards(trx, project.id)) await recheckSoon(trx, cardId);
  await followNewTrunksSoon(trx, project.id);
  return write.answer(flow);
}

function requireNone(faults: readonly FlowFault[]): void {
  const [first] = faults;
  if (!first) return;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  throw invalid(
    `${first.message}${more}`,
    faults.map(({ path, message }) => ({ path: `body.${path}`, message })),
  );
}

function requireOwnStages(current: Flow, draft: FlowDraft): void {
  const known = new Set(current.stages.map(({ id }) => id));
  const issues = draft.stages.flatMap(({ id, name }, at) =>
    id === undefined || known.has(id)
      ? []
      : [
          {
            path: `body.stages.${at}.id`,
            message: `Stage ${at + 1} (${name}) has an id that is none of this flow's. Leave it out to make a new stage.`,
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
      `Card ${queued.number} waits in the forge's merge queue. Change the flow once it has landed, or take it out of the queue there.`,
      30,
    );
  }
  throw busy(`Card ${first.number} is being moved. Change the flow once that is done.`, 2);
}

async function requireEmpty(trx: Trx, removed: readonly Stage[]): Promise<void> {
  const counts = await countCardsIn(
    trx,
    removed.map(({ id }) => id),
  );
  const held = removed.flatMap(({ id, name }) => {
    const count = counts.get(id) ?? 0;
    return count === 0 ? [] : [`${name} still holds ${count} ${count === 1 ? "card" : "cards"}`];
  });
  if (held.length > 0)
    throw conflict(`${held.join(", ")}. Move them to another stage before removing theirs.`);
}
