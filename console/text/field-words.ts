/** The words of the console for fields of the API that it calls otherwise. */
const WORDS: Readonly<Record<string, string>> = {
  taskNumbers: "cards",
  minRole: "role",
  wipLimit: "limit of cards",
  humanOnly: "people only",
  secondPerson: "second person",
  url: "URL",
  parentNumber: "parent",
  parentId: "parent",
};

/** The word of the console for a field of the API. */
export const wordOf = (field: string): string => WORDS[field] ?? field;

/** The label of a field in a body: `Stage 2, name` for `body.stages.1.name`. */
export function labelOf(path: string): string {
  const label = path
    .replace(/^body\./, "")
    .replaceAll(/(\w+)\.(\d+)/g, (_, list: string, at: string) => `${singular(list)} ${Number(at) + 1}`)
    .split(".")
    .map(wordOf)
    .join(", ");
  return label.charAt(0).toUpperCase() + label.slice(1);
}

const singular = (list: string): string => list.replace(/ies$/, "y").replace(/s$/, "");
