import { shortenedText, visibleText } from "../../flow/text.ts";

/** The maximum length of one text: that of a card's description. */
const MAX_TEXT = 20_000;

/**
 * Data for a model: no text has invisible characters, which people do not see and models read, or
 * more than `MAX_TEXT` characters.
 */
export function cleaned(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [cleanText(name), cleaned(part)]));
}

const cleanText = (text: string): string => shortenedText(visibleText(text), MAX_TEXT);

export type Item = Readonly<Record<string, unknown>>;

/** Where a comment or an event was written: GitHub reports those with a login. */
export function withSource(item: Item): Item {
  const { login } = (item["author"] ?? item["actor"] ?? { login: null }) as { login: string | null };
  return { ...item, source: login === null ? "trunkline" : "github" };
}

/** The sources of inbox items that do not come from GitHub. */
const OTHER_SOURCES: Readonly<Record<string, string>> = {
  error_reported: "monitor",
  waiting_stale: "trunkline",
  webhook_paused: "trunkline",
};

export const inboxItemWithSource = (item: Item): Item => ({
  ...item,
  source: OTHER_SOURCES[String(item["kind"])] ?? "github",
});
