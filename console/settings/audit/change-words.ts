import { wordOf } from "../../text/field-words.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Fields that say nothing to a person. */
const HIDDEN = /^(id|.*Ids?|position)$/;

/** What an event changed, as short texts; none if its data has no state before and after. */
export function changeWords({ from, to }: Fields): string[] {
  if (isFields(from) && isFields(to)) return fieldChanges(from, to);
  if (Array.isArray(from) && Array.isArray(to)) return listChanges(from, to);
  return [];
}

/** A text for each field with another value. */
function fieldChanges(from: Fields, to: Fields): string[] {
  const names = Object.keys(to).filter((name) => !HIDDEN.test(name));
  return names
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => `${wordOf(name)}: ${textOf(from[name])} → ${textOf(to[name])}`);
}

/** A text for each entry that is new, gone or changed. Entries have an id and a name. */
function listChanges(from: readonly unknown[], to: readonly unknown[]): string[] {
  const [before, after] = [from.filter(isFields), to.filter(isFields)];
  const removed = before.filter(({ id }) => !after.some((each) => each["id"] === id));
  return [
    ...removed.map(({ name }) => `${textOf(name)} removed`),
    ...after.flatMap((entry) => {
      const old = before.find(({ id }) => id === entry["id"]);
      if (!old) return [`${textOf(entry["name"])} added`];
      return fieldChanges(old, entry).map((change) => `${textOf(old["name"])}: ${change}`);
    }),
  ];
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value in words: `limit of cards 2, people only` for fields, without those that are not set. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(", ") || "none";
  if (isFields(value)) {
    const set = Object.entries(value).filter(([, each]) => each !== null && each !== false);
    return (
      set
        .map(([name, each]) => (each === true ? wordOf(name) : `${wordOf(name)} ${textOf(each)}`))
        .join(", ") || "none"
    );
  }
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : "none";
}
