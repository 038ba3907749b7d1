import { inertText, type InertTextOptions } from "../../flow/inert-text.ts";
import type { RepositoryFeature, ForgeIdentity, RepositoryRef } from "../values.ts";
import { withPermissions } from "./calls/accepted-permissions.ts";
import type { GitHubResponse, GitHubCaller, GitHubClient } from "./calls/client.ts";
import { UnknownOutcome } from "./calls/failures.ts";
import { refusalOf } from "./calls/refusals.ts";
import type { Account, CallParameters } from "./calls/send-call.ts";
import type { MonotonicClock } from "./calls/transport.ts";
import { callsById, type RepositoryCalls } from "./repositories.ts";

export interface RepositoryDeps {
  readonly client: GitHubClient;
  readonly clock: MonotonicClock;
  readonly identity: () => Promise<ForgeIdentity>;
  /** Called with a feature that a repository lacks, for `RepositoryRef.lacks` of later calls. */
  readonly onMissingFeature: (forgeId: number, what: RepositoryFeature) => Promise<void>;
}

/** Access to one repository for one read or write of the port. */
export interface GitHubRepository extends Omit<RepositoryDeps, "client"> {
  readonly ref: RepositoryRef;
  readonly caller: GitHubCaller;
  readonly read: RepositoryCalls["read"];
  /** `route` is relative to the repository, such as `POST /pulls`. Texts are made inert. */
  readonly write: (
    route: string,
    parameters: CallParameters,
    text?: InertTextOptions,
  ) => Promise<GitHubResponse>;
  readonly runWrite: ReturnType<typeof createRunWrite>;
}

export function openRepository(
  { client, ...deps }: RepositoryDeps,
  ref: RepositoryRef,
  withinMs?: number,
  account: Account = ref.installationId,
): GitHubRepository {
  const caller = client.as(account, withinMs, ref.fullName);
  const { read, write } = callsById(caller, ref);
  return {
    ...deps,
    ref,
    caller,
    read,
    write: (route, parameters, text) => write(route, withInertTexts(parameters, text)),
    runWrite: createRunWrite(deps.clock),
  };
}

/** The parameters that GitHub shows as text or puts into commits. GraphQL calls have no texts of users. */
const TEXTS: ReadonlySet<string> = new Set([
  "title",
  "body",
  "name",
  "message",
  "commit_title",
  "commit_message",
]);

const withInertTexts = (parameters: CallParameters, options?: InertTextOptions): CallParameters =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      TEXTS.has(name) && typeof value === "string" ? inertText(value, options) : value,
    ]),
  );

export const refusedBy = (response: GitHubResponse) =>
  ({ ok: false, refusal: withPermissions(refusalOf(response.status, response.body), response) }) as const;

const ATTEMPTS = 3;
/** No repeats after this time, so that the caller gets a response in time. */
const REPEAT_WITHIN_MS = 8_000;
/** GitHub may still be working when its gateway returns 502 or 504. */
export const READ_AFTER_MS = 500;

/**
 * Runs a write whose response may be lost. GitHub accepts no idempotency keys, so `find` reads the
 * effect before the write is repeated; null when there is none.
 */
function createRunWrite(clock: MonotonicClock) {
  return async <T>(write: () => Promise<T>, find: () => Promise<NoInfer<T> | null>): Promise<T> => {
    const startedAt = clock.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof UnknownOutcome)) throw error;
        await clock.sleep(READ_AFTER_MS * attempt);
        const found = await find();
        if (found !== null) return found;
        if (attempt === ATTEMPTS || clock.now() - startedAt > REPEAT_WITHIN_MS) throw error;
      }
    }
  };
}

/** For a write that may be repeated without harm. */
export const nothingToFind = (): Promise<null> => Promise.resolve(null);
