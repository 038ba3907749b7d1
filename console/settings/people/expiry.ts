const DAY_MS = 86_400_000;

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

/** The choices that do not extend the expiry of a key, null for a key that never expires. */
export const earlierExpiries = (expiresAt: string | null) =>
  EXPIRY_CHOICES.filter(([choice]) => {
    const days = daysOf(choice);
    if (expiresAt === null || days === null) return expiresAt === null;
    return Date.now() + days * DAY_MS < Date.parse(expiresAt);
  });
