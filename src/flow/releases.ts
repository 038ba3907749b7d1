import { plainName } from "./comment-text.ts";
import { shortenedText } from "./text.ts";

/** A pull request of a card. */
export interface MergeablePull {
  readonly number: number;
  readonly targetBranch: string;
  readonly state: "draft" | "open" | "merged" | "closed";
}

type PickedMerges =
  /** The pull requests to pick, by number, and the branch that has them. */
  | { readonly merged: readonly number[]; readonly into: string }
  /** The pull request that has to be merged first; null when the card has none. */
  | { readonly waitsFor: number | null };

/**
 * The merges to pick for a card: those into `target`, from which release branches are created, or
 * else those into the first branch it reached. Merges into later branches repeat the same changes.
 */
export function pickedMerges(pulls: readonly MergeablePull[], target: string): PickedMerges {
  const merged = pulls.filter(({ state }) => state === "merged").toSorted((a, b) => a.number - b.number);
  const [first] = merged;
  if (!first) return { waitsFor: Math.max(0, ...pulls.map(({ number }) => number)) || null };
  const reached = merged.some(({ targetBranch }) => targetBranch === target) ? target : first.targetBranch;
  const there = merged.filter(({ targetBranch }) => targetBranch === reached);
  return { merged: there.map(({ number }) => number), into: reached };
}

/** A card in the notes of a release. */
export interface ReleaseNotesCard {
  readonly number: number;
  readonly title: string;
  /** Merged in this repository; `isReleased` if the tagged commit contains it. */
  readonly pullRequests: readonly { readonly number: number; readonly isReleased: boolean }[];
  /** Nothing of the card was merged anywhere, and it is not at the end of the flow. */
  readonly hasNoWork: boolean;
}

/** GitHub accepts 125,000 characters. */
export const MAX_NOTES = 100_000;
const MAX_TITLE = 200;

/**
 * The release notes of one repository in Markdown: the cards with their pull requests there. Titles
 * cannot add mentions or references. Cards that the tag does not contain are marked as such.
 */
export function releaseNotes(cards: readonly ReleaseNotesCard[]): string {
  if (cards.length === 0) return "No cards.";
  const lines: string[] = [];
  let length = 0;
  for (const card of cards) {
    const line = lineOf(card);
    length += line.length + 1;
    if (length > MAX_NOTES) return [...lines, `- and ${cards.length - lines.length} more`].join("\n");
    lines.push(line);
  }
  return lines.join("\n");
}

/** Whether the tag contains nothing of a card whose work belongs to the repository. */
export const isMissing = ({ pullRequests, hasNoWork }: ReleaseNotesCard): boolean =>
  hasNoWork || (pullRequests.length > 0 && pullRequests.every(({ isReleased }) => !isReleased));

function lineOf(card: ReleaseNotesCard): string {
  const { number, title, pullRequests } = card;
  const short = shortenedText(title, MAX_TITLE);
  const released = pullRequests.filter(({ isReleased }) => isReleased);
  const notes = isMissing(card) ? ["not in this release"] : released.map((pull) => `#${pull.number}`);
  return `- Card ${number}: ${plainName(short)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
}
