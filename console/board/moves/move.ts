import type { Blocked, BoardTask, CardRepository, Flow, Promotion } from "../../api/schema.d.ts";

/** A move that somebody asked for. */
export interface MoveRequest {
  readonly number: number;
  /** Where the card was when the move was asked for: its stage, and the card above it. */
  readonly from: { readonly statusId: string; readonly above: number | null };
  /** Where it goes: below `above`, which is at `index` of the column without the moved card. */
  readonly to: { readonly statusId: string; readonly above: number | null; readonly index: number };
  readonly stageName: string;
  /** Whether the move may do something on GitHub: it is then shown as pending. */
  readonly usesGit: boolean;
  /** Whether a pull request of the card has been merged. */
  readonly hasLanded: boolean;
  /** Waits for checks and reviews instead of being refused. */
  readonly waits?: true;
  /** The idempotency key. A repetition of the same move has the same one. */
  readonly key: string;
  /** The outcome, if it is known before the call: the plan of the move could not be read. */
  readonly outcomeBeforeCall?: MoveOutcome;
}

type Stage = Flow["stages"][number];

/** The parts of a request that are the same for every place that a card is moved from. */
export const requestTo = (
  stage: Stage,
  {
    statusId,
    repositories = [],
  }: { readonly statusId: string; readonly repositories?: BoardTask["repositories"] },
): Pick<MoveRequest, "stageName" | "usesGit" | "hasLanded"> => ({
  stageName: stage.name,
  usesGit: statusId !== stage.id && (stage.rule.type !== "none" || stage.gates?.secondPerson === true),
  hasLanded: repositories.some(({ prState }) => prState === "merged"),
});

/** How a move ended. `shownIn` is the stage in which the card shows that; in another one it is stale. */
export type MoveOutcome =
  | {
      readonly state: "moved";
      /** What the move changed on GitHub, as sentences. */
      readonly effects: readonly string[];
    }
  | { readonly state: "queued"; readonly queued: readonly Promotion[]; readonly shownIn: string }
  /** The move waits until it is ready. */
  | { readonly state: "armed"; readonly shownIn: string }
  | {
      readonly state: "refused";
      readonly blocked: Blocked;
      readonly shownIn: string;
    }
  | {
      readonly state: "failed";
      readonly message: string;
      readonly canRetry: boolean;
      readonly shownIn: string;
    };

/** A card's newest move: `outcome` is null while it is pending. */
export interface MoveState {
  readonly request: MoveRequest;
  readonly outcome: MoveOutcome | null;
}

export type MoveStates = ReadonlyMap<number, MoveState>;

/** Why a card is not in its stage yet, as a sentence for the live region. */
export function sentenceOf(
  { number, stageName }: MoveRequest,
  outcome: Exclude<MoveOutcome, { readonly state: "moved" }>,
): string {
  switch (outcome.state) {
    case "queued":
      return `GitHub has accepted the merge of card #${number}. The card moves to ${stageName} when it is merged.`;
    case "armed":
      return `Card #${number} moves to ${stageName} when it is ready.`;
    case "refused":
      return `Card #${number} was not moved to ${stageName}. ${outcome.blocked.message}`;
    case "failed":
      return `Card #${number} was not moved to ${stageName}. ${outcome.message}`;
  }
}

/** The notice of a move that succeeded. */
export function noticeOf({ number, stageName, from, to }: MoveRequest, effects: readonly string[]) {
  const where = from.statusId === to.statusId ? "within" : "to";
  return {
    title: `Moved card #${number} ${where} ${stageName}`,
    ...(effects.length > 0 && { description: effects.join(" ") }),
  };
}

/** What changed on GitHub between two reads of a card, as sentences. */
export function effectsBetween(
  before: readonly CardRepository[],
  after: readonly CardRepository[],
): readonly string[] {
  return after.flatMap(({ fullName, branchName, prNumber, prState }) => {
    const was = before.find((each) => each.fullName === fullName);
    const place = after.length > 1 ? ` in ${fullName}` : "";
    const isNew = prNumber !== null && prNumber !== was?.prNumber;
    const sentences = [
      branchName !== null && branchName !== was?.branchName && `Its branch is ${branchName}${place}.`,
      isNew && `Its pull request is #${prNumber}${place}.`,
      prState === "open" &&
        was?.prState === "draft" &&
        `Pull request #${prNumber}${place} is ready for review.`,
      prState === "merged" && was?.prState !== "merged" && `Pull request #${prNumber}${place} is merged.`,
    ];
    return sentences.filter((sentence) => sentence !== false);
  });
}

/** Why the last move of a card was refused: from the board, or from a response to this page's move that is newer. */
export function blockedOf({ number, statusId, blocked = null, updatedAt }: BoardTask, states: MoveStates) {
  const outcome = states.get(number)?.outcome;
  if (outcome?.state !== "refused" || outcome.shownIn !== statusId) return blocked;
  return updatedAt !== undefined && updatedAt >= outcome.blocked.at ? blocked : outcome.blocked;
}
