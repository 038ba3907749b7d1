import type { Stage } from "./flow.ts";
import type { BlockedReason, Refusal, RefusalReason } from "./refusal.ts";

/** Why a gate with `secondPerson` refuses a move. */
export const SECOND_PERSON_CAUSES = [
  "same_person",
  "no_owner",
  "author_unknown",
  "pusher_unknown",
  "too_many_commits",
] as const;
type SecondPersonCause = (typeof SECOND_PERSON_CAUSES)[number];

/** What the gates of a stage check, besides the card's commits. */
export interface EntryFacts {
  /** Whether a person moves the card, not an API key. */
  readonly isHuman: boolean;
  /** The person who moves the card or owns the API key; null if unknown. */
  readonly personId: string | null;
  /** The other cards that are in the stage or being moved into it. */
  readonly otherCards: number;
}

/** The refusals that do not depend on the card's commits. */
export function entryRefusals({ name, gates }: Stage, facts: EntryFacts): Refusal[] {
  if (!gates) return [];
  const refusals: Refusal[] = [];
  if (gates.humanOnly && !facts.isHuman) {
    const message = `Only a person who is signed in to Trunkline may move cards into ${name}. An API key may not, whoever owns it.`;
    refusals.push({ reason: "human_only", message });
  }
  if (gates.wipLimit !== null && facts.otherCards >= gates.wipLimit) {
    const details = { wipLimit: gates.wipLimit, cards: facts.otherCards };
    const message = `${name} has room for ${cardsOf(gates.wipLimit)}, and ${cardsOf(facts.otherCards)} ${facts.otherCards === 1 ? "is" : "are"} in it or being moved there. Wait until one leaves it, then move the card again.`;
    refusals.push({ reason: "wip_limit", message, details });
  }
  if (gates.secondPerson && facts.personId === null) refusals.push(noOwner(name));
  return refusals;
}

const noOwner = (stageName: string): Refusal => ({
  reason: "needs_second_person",
  message: `${stageName} needs a second person, and this credential belongs to no person. Use one that was issued with trunkline credential issue --owner.`,
  details: { cause: "no_owner" },
});

const cardsOf = (count: number): string => (count === 1 ? "1 card" : `${count} cards`);

/** The author of a commit of a card's branch, or the user who pushed it. */
export interface Contributor {
  readonly sha: string;
  /** The GitHub login; null if unknown. */
  readonly login: string | null;
  /** The person, or the owner of the agent; null if unknown. */
  readonly personId: string | null;
}

/** A card's branch with commits that its target lacks. */
export interface BranchWork {
  readonly fullName: string;
  readonly branchName: string;
  readonly headSha: string;
  /** Null if not all of them could be read. */
  readonly authors: readonly Contributor[] | null;
  /** Null when the pushes from the branch's creation to its head are not all known. */
  readonly pushers: readonly Contributor[] | null;
}

/** The refusal if the person worked on the branch, or if a contributor is unknown. */
export function secondPersonRefusal(
  { name }: Stage,
  personId: string | null,
  { branchName, headSha, authors, pushers }: BranchWork,
): Refusal | null {
  // The credential may have lost its owner since the move began.
  if (personId === null) return noOwner(name);
  const refusal = (cause: SecondPersonCause, why: string): Refusal => ({
    reason: "needs_second_person",
    message: `${name} needs a second person: ${why}`,
    details: { cause, headSha },
  });
  const own = [...(authors ?? []), ...(pushers ?? [])].find((one) => one.personId === personId);
  if (own) {
    const why =
      own.login === null
        ? `the person who moves the card pushed or wrote commits of ${branchName}.`
        : `${own.login} pushed or wrote commits of ${branchName}, so neither ${own.login} nor an account of the same person may move the card.`;
    return refusal("same_person", `${why} Another person has to move it.`);
  }
  if (authors === null)
    return refusal(
      "too_many_commits",
      `Trunkline could not read all authors of the commits of ${branchName}: it reads at most 100 commits with 20 authors each. Split the work into several cards.`,
    );
  const author = authors.find((one) => one.personId === null);
  if (author) return refusal("author_unknown", unknownContributor("wrote", author, branchName));
  const pusher =
    pushers === null ? { sha: headSha, login: null } : pushers.find((one) => one.personId === null);
  return pusher ? refusal("pusher_unknown", unknownContributor("pushed", pusher, branchName)) : null;
}

const IDENTIFY = {
  pushed:
    "GitHub may not have reported the push yet: move the card again in a minute. If this stays, delete the branch and let members of the board push it again.",
  wrote:
    "If its email address belongs to a GitHub account, add the account with `trunkline member add`. Otherwise write the commit again with such an address. Then move the card again.",
} as const;

const unknownContributor = (
  verb: "pushed" | "wrote",
  { sha, login }: Pick<Contributor, "sha" | "login">,
  branchName: string,
): string =>
  login === null
    ? `Trunkline does not know who ${verb} ${sha.slice(0, 10)} of ${branchName}. ${IDENTIFY[verb]}`
    : `${login}, who ${verb} ${sha.slice(0, 10)} of ${branchName}, is an agent without an owner. Register it again with its owner, then move the card again.`;

const GATE_REASONS: ReadonlySet<RefusalReason> = new Set(["wip_limit", "human_only", "needs_second_person"]);

export const isGateReason = ({ reason }: Pick<BlockedReason, "reason">): boolean => GATE_REASONS.has(reason);

/** The state of a stage and a card when a refusal by a gate is checked again. */
export interface RecheckedGates {
  readonly stage: Stage;
  readonly otherCards: number;
  /** The branches' present heads, and whether all their pushers are known, by full name. */
  readonly branches: ReadonlyMap<
    string,
    { readonly headSha: string | null; readonly hasKnownPushers: boolean }
  >;
}

/**
 * Whether a gate still refuses. A limit refuses until the stage has room, `secondPerson` until the
 * head changes or its pusher is known; with the cause `no_owner`, it refuses every head. Every gate
 * stops refusing when it is removed.
 */
export function gateStillRefuses(
  { reason, repository, details }: BlockedReason,
  { stage: { gates }, otherCards, branches }: RecheckedGates,
): boolean {
  if (reason === "wip_limit")
    return gates !== undefined && gates.wipLimit !== null && otherCards >= gates.wipLimit;
  if (reason === "human_only") return gates?.humanOnly === true;
  if (gates?.secondPerson !== true) return false;
  if (details["cause"] === "no_owner") return true;
  const branch = branches.get(repository);
  if (branch?.headSha !== details["headSha"]) return false;
  return details["cause"] !== "pusher_unknown" || !branch?.hasKnownPushers;
}
