import { invalid, Problem } from "../../errors.ts";
import type { HeadShas } from "../../flow/move.ts";
import type { OnFailingChecks } from "../../flow/readiness.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { listLinks } from "../../store/cards/links.ts";
import type { Db } from "../../store/db/connect.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { noSuchStage, requireRoleFor } from "./may-enter.ts";
import type { Deps } from "../deps.ts";
import { commitStart } from "../lease.ts";
import type { Write } from "../write.ts";
import type { RefusedMove } from "./refuse-card.ts";
import { startMove, lockTransition } from "./start-move.ts";
import { runToEnd } from "./finish-move.ts";

interface MoveInput {
  readonly statusId: string;
  readonly index: number;
  /** The heads that the card's branches must have, by the repository's full name. */
  readonly headShas?: Readonly<Record<string, string>> | undefined;
  /** Wait for checks and reviews instead of being refused. */
  readonly whenReady?:
    | {
        readonly expiresInHours?: number | undefined;
        readonly onFailingChecks?: OnFailingChecks | undefined;
        readonly headShas?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
}

/** How long an armed move waits by default. */
export const DEFAULT_EXPIRY_HOURS = 24;

/**
 * Moves a card into a stage of its project's flow, at `index` of the column, and runs on GitHub
 * what the stage requires. Returns 200 with the move result, or 202 when GitHub has queued the
 * merge or, with `whenReady`, the move is armed. Throws `refused` (409) when GitHub or a gate refuses, busy while another call moves the card, and
 * `unavailable` (503) when GitHub cannot be reached.
 */
export async function moveCard(
  deps: Deps,
  write: Write,
  card: CardHead,
  input: MoveInput,
): Promise<StoredResponse> {
  const { statusId, index } = input;
  const headsByName = namedHeads(input);
  const transition = await lockTransition(write.trx, card, statusId, write.requestId);
  if (!transition) throw noSuchStage("card");
  requireRoleFor(write, transition.stage);
  const { userId: actorId, isHuman, requestId } = write;
  const headShas = headsByName ? await headsByRepositoryId(write.trx, card, headsByName) : null;
  const whenReady = input.whenReady
    ? {
        expiresInHours: input.whenReady.expiresInHours ?? DEFAULT_EXPIRY_HOURS,
        onFailingChecks: input.whenReady.onFailingChecks ?? "disarm",
      }
    : null;
  const request = { index, actorId, isHuman, requestId, headShas, whenReady };
  const begun = await startMove(deps, write.trx, transition, request);
  if (begun.state === "moved") {
    const response = await write.respond(begun.result);
    deps.metrics.moves.inc({ outcome: "moved" });
    return response;
  }
  if (begun.state === "refused") {
    await write.commit();
    throw refusedMove(begun);
  }
  await commitStart(deps, write, begun.move);
  const settled = await runToEnd(deps, begun, async (trx, stored) =>
    stored.state === "refused" ? stored : write.respondIn(trx, stored.result, stored.status),
  );
  if (!("blocked" in settled)) return settled;
  throw refusedMove(settled);
}

function namedHeads({ headShas, whenReady }: MoveInput): MoveInput["headShas"] {
  if (headShas && whenReady?.headShas) {
    const message = "specify the heads once: here or in headShas";
    throw invalid(`body.whenReady.headShas: ${message}`, [{ path: "body.whenReady.headShas", message }]);
  }
  return whenReady?.headShas ?? headShas;
}

function refusedMove(refused: RefusedMove): Problem {
  const { state: _, ...body } = refused;
  return new Problem("refused", body.blocked.message, { body });
}

/** The required heads by repository id, because a repository may be renamed before the move is resumed. */
async function headsByRepositoryId(
  db: Db,
  card: CardHead,
  headsByName: Readonly<Record<string, string>>,
): Promise<HeadShas> {
  const links = await listLinks(db, card.id);
  const ids = new Map(links.map(({ repository }) => [repository.fullName, repository.id]));
  const issues = Object.keys(headsByName)
    .filter((fullName) => !ids.has(fullName))
    .map((fullName) => ({
      path: `body.headShas.${fullName}`,
      message: "not a repository of this card",
    }));
  const [first] = issues;
  if (first) throw invalid(`${first.path}: ${first.message}`, issues.slice(0, 50));
  return Object.fromEntries(Object.entries(headsByName).map(([fullName, sha]) => [ids.get(fullName), sha]));
}
