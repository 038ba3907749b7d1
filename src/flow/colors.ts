/** The palette of labels and features, the default first. */
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
