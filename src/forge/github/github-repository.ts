import type { Feature, ForgeIdentity, RepositoryRef } from "../values.ts";
import type { Answer, Caller, GitHubClient } from "./calls/client.ts";
import type { ForgeClock } from "./calls/clock.ts";
import { UnknownOutcome } from "./calls/failures.ts";
import { refusalOf } from "./calls/refusals.ts";
import { REPOSITORY } from "./repositories.ts";
import type { CallParameters } from "./calls/send-call.ts";

/** What questions and orders about any repository need. */
export interface RepositoryDeps {
  readonly client: GitHubClient;
  readonly clock: ForgeClock;
  readonly identity: () => Promise<ForgeIdentity>;
  /** Is given what a repository, by the forge's id, turns out to lack. */
  readonly onLacking: (forgeId: number, what: Feature) => Promise<void>;
}

/** One repository, for one question or order. */
export interface GitHubRepository extends Omit<RepositoryDeps, "client"> {
  readonly ref: RepositoryRef;
  readonly caller: Caller;
  /** Reads a path below the repository, a template such as `/pulls/{pull_number}`. */
  readonly read: (path: string, parameters?: CallParameters) => Promise<Answer>;
  /** Writes to a route below the repository, such as `POST /pulls`. */
  readonly write: (route: string, parameters: CallParameters) => Promise<Answer>;
  readonly carryOut: ReturnType<typeof createCarryOut>;
}

export function openRepository(
  { client, ...deps }: RepositoryDeps,
  ref: RepositoryRef,
  withinMs?: number,
): GitHubRepository {
  const caller = client.as(ref.installationId, withinMs);
  const byId = { repository_id: ref.forgeId };
  return {
    ...deps,
    ref,
    caller,
    read: (path, parameters) => caller.read(`GET ${REPOSITORY}${path}`, { ...byId, ...parameters }),
    write: (route, parameters) =>
      caller.write(route.replace(" ", ` ${REPOSITORY}`), { ...byId, ...parameters }),
    carryOut: createCarryOut(deps.clock),
  };
}

/** The refusal that an answer is to an order. */
export const refusedBy = ({ status, body }: Answer) =>
  ({ ok: false, refusal: refusalOf(status, body) }) as const;

const TRIES = 3;
/** An order is begun again only this long after the first try, so that an answer comes in time. */
const REPEAT_WITHIN_MS = 8_000;
/** GitHub may still be at work when its own gateway has given up. */
export const LOOK_AFTER_MS = 500;

/**
 * Carries out an order whose answer may get lost. GitHub takes no idempotency keys, so before an
 * order is repeated `find` looks for what it would have done: null means that nothing is there.
 */
function createCarryOut(clock: ForgeClock) {
  return async <T>(order: () => Promise<T>, find: () => Promise<NoInfer<T> | null>): Promise<T> => {
    const begun = clock.now();
    for (let tries = 1; ; tries++) {
      try {
        return await order();
      } catch (error) {
        if (!(error instanceof UnknownOutcome)) throw error;
        await clock.sleep(LOOK_AFTER_MS * tries);
        const found = await find();
        if (found !== null) return found;
        if (tries === TRIES || clock.now() - begun > REPEAT_WITHIN_MS) throw error;
      }
    }
  };
}

/** For an order that has the same effect however often it is carried out. */
export const nothingToFind = (): Promise<null> => Promise.resolve(null);
