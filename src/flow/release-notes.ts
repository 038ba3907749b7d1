import { plainName } from "./mentions.ts";

/** A card as a release's notes tell of it. */
export interface NotedCard {
  readonly number: number;
  readonly title: string;
  /** Its merged pull requests in the repository the notes are for. */
  readonly prNumbers: readonly number[];
}

/** GitHub takes 125,000 characters. */
const MAX_LENGTH = 100_000;
/** A title tells enough by then. */
const MAX_TITLE = 200;

/**
 * The notes of a release in one repository, in Markdown: its cards, with their pull requests there. They mention nobody and refer to
 * nothing but those pull requests, whatever the titles hold.
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

function lineOf({ number, title, prNumbers }: NotedCard): string {
  const characters = Array.from(title);
  const short = characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join("")}…` : title;
  const pulls = prNumbers.length > 0 ? ` (${prNumbers.map((each) => `#${each}`).join(", ")})` : "";
  return `- Card ${number}: ${plainName(short)}${pulls}`;
}
