/** The numbers with one more of them, or without it if it was there. */
export const toggled = (numbers: ReadonlySet<number>, number: number): ReadonlySet<number> =>
  numbers.has(number)
    ? new Set([...numbers].filter((each) => each !== number))
    : new Set([...numbers, number]);
