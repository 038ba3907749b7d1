import { plainName } from "./comment-text.ts";

/** A pull request of a card, in as far as a pick asks for it. */
export interface MergedOrNot {
  readonly number: number;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
}

export type PickedMerges =
  /** The pull requests whose commits are picked, in the order they were merged, and the branch they were merged into. */
  | { readonly merged: readonly number[]; readonly into: string }
  /** The one that should be merged first; null where the card has none. */
  | { readonly waitsFor: number | null };

/**
 * Which merges bring a card's work to a release: those into `target`, the branch releases are cut from, or else into the first branch it
 * reached. A merge further on would bring the same changes once more.
 */
export function pickedMerges(pulls: readonly MergedOrNot[], target: string): PickedMerges {
  const merged = pulls.filter(({ state }) => state === "merged").toSorted((a, b) => a.number - b.number);
  const [first] = merged;
  if (!first) return { waitsFor: Math.max(0, ...pulls.map(({ number }) => number)) || null };
  const reached = merged.some(({ targetBranch }) => targetBranch === target) ? target : first.targetBranch;
  const there = merged.filter(({ targetBranch }) => targetBranch === reached);
  return { merged: there.map(({ number }) => number), into: reached };
}

/** A card as a release's notes tell of it. */
export interface NotedCard {
  readonly number: number;
  readonly title: string;
  /** Its merged pull requests in the repository the notes are for; `isLater` of one that is known to have come too late for what is tagged. */
  readonly pullRequests: readonly { readonly number: number; readonly isLater: boolean }[];
  /** Whether nothing of it was merged anywhere, and it does not stand at the end of the flow either. */
  readonly isUndone: boolean;
}

/** GitHub takes 125,000 characters. */
const MAX_LENGTH = 100_000;
/** A title tells enough by then. */
const MAX_TITLE = 200;

/**
 * The notes of a release in one repository, in Markdown: its cards, with their pull requests there. They mention nobody and refer to
 * nothing but those pull requests, whatever the titles hold. Whoever reads them takes what they list for what the tag holds, so what is known not to be there is said not to be.
 */
export function releaseNotes(cards: readonly NotedCard[]): string {
  if (cards.length === 0) return "No cards.";
  const lines: string[] = [];
  let length = 0;
  for (const card of cards) {
    const line = lineOf(card);
    length += line.length + 1;
    if (length > MAX_LENGTH) return [...lines, `- and ${cards.length - lines.length} more`].join("\n");
    lines.push(line);
  }
  return lines.join("\n");
}

function lineOf({ number, title, pullRequests, isUndone }: NotedCard): string {
  const characters = Array.from(title);
  const short = characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join("")}…` : title;
  const held = pullRequests.filter(({ isLater }) => !isLater);
  const isMissing = isUndone || (pullRequests.length > 0 && held.length === 0);
  const told = isMissing ? ["not in this release"] : held.map((pull) => `#${pull.number}`);
  return `- Card ${number}: ${plainName(short)}${told.length > 0 ? ` (${told.join(", ")})` : ""}`;
}
