import type { ReleaseDetails, ReleasePreview } from "../../api/schema.d.ts";

/**
 * What a pick changed. `added`: the card joined the release, whose branches had its commits.
 * `contained`: the release had the card, and its branches had the commits.
 */
export type PickChange = "picked" | "added" | "contained";

type State = Pick<ReleaseDetails, "cards" | "repositories">;

/** Compares the release before and after the pick of a card. */
export function changeOf(before: State, after: State, number: number): PickChange {
  const pickedAt = ({ cards }: State) => cards.find((card) => card.number === number)?.pickedAt;
  const earlier = pickedAt(before);
  if (earlier !== undefined) return earlier === pickedAt(after) ? "contained" : "picked";
  return headsOf(before) === headsOf(after) ? "added" : "picked";
}

const headsOf = ({ repositories }: State): string => repositories.map(({ headSha }) => headSha).join();

/** Says what happened to the cards that were to be picked. A refused card has no change. */
export function pickNotice(changes: ReadonlyMap<number, PickChange>, asked: readonly number[]): string {
  const [only = 0] = asked;
  if (asked.length === 1) return noticeOf(only, changes.get(only));
  const unchanged = [...changes.values()].filter((change) => change !== "picked").length;
  const picked = `${changes.size - unchanged} of ${asked.length} cards were picked`;
  return unchanged === 0
    ? picked
    : `${picked}. The release branch already contained the commits of ${unchanged}`;
}

function noticeOf(number: number, change: PickChange | undefined): string {
  if (change === undefined) return `Card ${number} was not picked`;
  if (change === "picked") return `Card ${number} was picked`;
  return change === "contained"
    ? `The release branch already contains the commits of card ${number}`
    : `Card ${number} was added to the release. The release branch already contained its commits`;
}

/** The cards of a frozen release whose commits a pick may add. */
export const pickableIn = (
  { cards }: Pick<ReleaseDetails, "cards">,
  { missingCards, unmergedCards }: Pick<ReleasePreview, "missingCards" | "unmergedCards">,
): ReadonlySet<number> =>
  new Set(
    cards.flatMap(({ number, pickedAt }) =>
      pickedAt === null && missingCards.includes(number) && !unmergedCards.includes(number) ? number : [],
    ),
  );
