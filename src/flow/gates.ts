import type { Stage } from "./flow.ts";
import { blockedReason, type BlockedReason, type Refusal, type RefusalReason } from "./refusal.ts";

/** Why the commits of a card need somebody else, or cannot be attributed. */
export const SECOND_PERSON_CAUSES = [
  "same_person",
  "no_owner",
  "author_unknown",
  "pusher_unknown",
  "too_many_commits",
] as const;
type SecondPersonCause = (typeof SECOND_PERSON_CAUSES)[number];

/** What decides whether a card may enter a stage, apart from its commits. */
export interface EntryFacts {
  /** Whether a person moves the card, not an API key. */
  readonly isHuman: boolean;
  /** The person as whom the mover counts, or null. */
  readonly personId: string | null;
  /** The other cards that are in the stage or being moved into it. */
  readonly otherCards: number;
}

/** What the gates of a stage refuse, whatever the card's commits are. */
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
  if (gates.secondPerson && facts.personId === null) {
    const message = `${name} needs a second person, and this credential belongs to no person. Use one that was issued with --owner.`;
    refusals.push({ reason: "needs_second_person", message, details: { cause: "no_owner" } });
  }
  return refusals;
}

const cardsOf = (count: number): string => (count === 1 ? "1 card" : `${count} cards`);

/** Somebody who pushed to a card's branch or wrote one of its commits. */
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
  /** Null when there are more commits than can be read. */
  readonly authors: readonly Contributor[] | null;
  /** Null when the pushes from the branch's creation to its head are not all known. */
  readonly pushers: readonly Contributor[] | null;
}

/** Why a person may not be the second one for a branch; null if nothing shows that. */
export function secondPersonRefusal(
  { name }: Stage,
  personId: string | null,
  { branchName, headSha, authors, pushers }: BranchWork,
): Refusal | null {
  const refusal = (cause: SecondPersonCause, why: string): Refusal => ({
    reason: "needs_second_person",
    message: `${name} needs a second person: ${why}`,
    details: { cause, headSha },
  });
  const own = [...(authors ?? []), ...(pushers ?? [])].find((one) => one.personId === personId);
  if (own) {
    const who = own.login ?? "the mover";
    return refusal(
      "same_person",
      `${who} pushed or wrote commits of ${branchName} and counts as the mover. Another person has to move the card.`,
    );
  }
  if (authors === null)
    return refusal(
      "too_many_commits",
      `${branchName} has more commits than Trunkline reads. Split the work into several cards.`,
    );
  const author = authors.find((one) => one.personId === null);
  if (author) return refusal("author_unknown", unknown("wrote", author, branchName));
  const pusher =
    pushers === null ? { sha: headSha, login: null } : pushers.find((one) => one.personId === null);
  return pusher ? refusal("pusher_unknown", unknown("pushed", pusher, branchName)) : null;
}

const unknown = (
  verb: "pushed" | "wrote",
  { sha, login }: Pick<Contributor, "sha" | "login">,
  branchName: string,
): string =>
  login === null
    ? `Trunkline does not know who ${verb} ${sha.slice(0, 10)} of ${branchName}. Let members of the board push it again, to a new branch of this name.`
    : `${login}, who ${verb} ${sha.slice(0, 10)} of ${branchName}, is an agent without an owner. Register it again with its owner, then move the card again.`;

const GATE_REASONS: ReadonlySet<RefusalReason> = new Set(["wip_limit", "human_only", "needs_second_person"]);

export const isGateReason = ({ reason }: Pick<BlockedReason, "reason">): boolean => GATE_REASONS.has(reason);

export const gateReason = (refusal: Refusal, fullName = ""): BlockedReason =>
  blockedReason(fullName, refusal);

/** The state of a stage and a card when a refusal by a gate is checked again. */
export interface LaterGates {
  readonly stage: Stage;
  readonly otherCards: number;
  /** The branches' present heads, and whether all their pushers are known, by repository. */
  readonly branches: ReadonlyMap<
    string,
    { readonly headSha: string | null; readonly hasKnownPushers: boolean }
  >;
}

/**
 * Whether a gate still refuses: a limit until there is room, a second person until the head changes
 * or its pusher is known, anything until the card moves or the gate is removed.
 */
export function gateStillRefuses(
  { reason, repository, details }: BlockedReason,
  { stage: { gates }, otherCards, branches }: LaterGates,
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
