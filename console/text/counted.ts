/** A number with its noun, for example `1 card` or `2 cards`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const cardsOf = (count: number): string => counted(count, "card");
