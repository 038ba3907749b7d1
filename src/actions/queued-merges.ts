/** What a look shows of merges that the forge put into its merge queue for us. */
import type { PullRequestFacts } from "../flow/facts.ts";
import { findIntent } from "../store/ops/intents.ts";
import type { Deps } from "./deps.ts";
import type { Look } from "./look-at-card.ts";
import { intentKey } from "./record-deeds.ts";

/** A pull request that was in the forge's merge queue for us and stands open outside of it. */
export interface LeftQueue {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: number;
  readonly headSha: string;
  /** The queue's word for having thrown it out; null where none was heard, and it may as well be landing. */
  readonly word: string | null;
}

/** All of a card's that have left the queue and are not shown as merged. */
export async function listLeftQueue(deps: Deps, look: Look): Promise<LeftQueue[]> {
  const left: LeftQueue[] = [];
  for (const { repositoryId, fullName, facts } of look.repositories) {
    if ("reason" in facts) continue;
    for (const { number: prNumber, targetBranch, headSha } of facts.pullRequests.filter(isOpenOutside)) {
      const intent = await findIntent(deps.db, intentKey({ repositoryId, prNumber }, "merge"));
      if (!intent?.queued || intent.done) continue;
      left.push({ repositoryId, fullName, targetBranch, prNumber, headSha, word: intent.thrownOut });
    }
  }
  return left;
}

const isOpenOutside = ({ state, isInMergeQueue }: PullRequestFacts): boolean =>
  state === "open" && !isInMergeQueue;

/** Whether a look shows a pull request in the forge's merge queue. */
export function isInQueue(
  look: Look,
  { repositoryId, prNumber }: { readonly repositoryId: string; readonly prNumber: number },
): boolean {
  const facts = look.repositories.find((repository) => repository.repositoryId === repositoryId)?.facts;
  if (!facts || "reason" in facts) return false;
  return facts.pullRequests.some(({ number, isInMergeQueue }) => number === prNumber && isInMergeQueue);
}
