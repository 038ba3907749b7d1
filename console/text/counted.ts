/** A noun for a number of things, for example `card` for 1 and `cards` for 2. */
export const nounFor = (count: number, noun: string): string => `${noun}${count === 1 ? "" : "s"}`;

/** A number with its noun, for example `1 card` or `2 cards`. */
export const counted = (count: number, noun: string): string => `${count} ${nounFor(count, noun)}`;

export const cardsOf = (count: number): string => counted(count, "card");
