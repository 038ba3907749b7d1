/** The palette of labels and features. */
export const COLORS = [
  "gray",
  "red",
  "orange",
  "yellow",
  "green",
  "teal",
  "blue",
  "indigo",
  "purple",
  "pink",
] as const;
export type Color = (typeof COLORS)[number];

export const DEFAULT_COLOR: Color = "gray";
