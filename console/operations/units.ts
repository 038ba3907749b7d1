const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

/** For example `none`, `12 s`, `3 min`. */
export function secondsText(seconds: number): string {
  if (seconds < 1) return "none";
  const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? [1, "s"];
  return `${Math.round(seconds / size)} ${unit}`;
}

/** For example `12.5 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const unit = ["B", "kB", "MB", "GB"][power] ?? "GB";
  return `${Number((bytes / 1_000 ** power).toFixed(1))} ${unit}`;
}
