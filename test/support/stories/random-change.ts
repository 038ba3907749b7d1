/** The value with one part removed or replaced. */
export function withRandomChange(value: unknown, path: readonly number[], by: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const copy: Record<string, unknown> = { ...value };
  const keys = Object.keys(copy);
  const key = keys[step % Math.max(keys.length, 1)];
  if (key === undefined) return by;
  copy[key] = withRandomChange(copy[key], rest, by);
  if (copy[key] === undefined) delete copy[key];
  return Array.isArray(value) ? Object.values(copy) : copy;
}
