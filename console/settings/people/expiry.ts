/** For a choice of the days until a key expires. */
export const EXPIRY_CHOICES = [
  ["7", "In 7 days"],
  ["30", "In 30 days"],
  ["90", "In 90 days"],
  ["365", "In a year"],
  ["never", "Never"],
] as const;

export type Expiry = (typeof EXPIRY_CHOICES)[number][0];

export const daysOf = (expiry: Expiry): number | null => (expiry === "never" ? null : Number(expiry));
