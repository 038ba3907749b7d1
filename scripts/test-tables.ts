import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * `docs/contract.md` and `docs/faults.md` are generated from tags. A tag is a comment directly above a
 * test, a `describe` or a function that checks an invariant:
 *
 *     Contract: Cards: A new card without `statusId` is a draft without Git
 *     Fault: C7 The head changes just before the merge => refused as `head_moved`
 *     Invariant: I7 Positions in a column have no gaps
 *
 * A second test of a sentence of the contract repeats the tag. A second test of a fault or an invariant
 * has the id alone: `Fault: C7`.
 */
const TAG = /^\s*\/\/ (Contract|Fault|Invariant): (.+)$/;
/** Also matches a tag with a typing error. */
const LIKE_A_TAG = /^\s*\/\/\s*(contract|fault|invariant)s?\s*:/i;
const COMMENT = /^\s*(\/\/|\/\*|\*)/;

const CONTRACT_SECTIONS: readonly string[] = [
  "Conventions",
  "Account",
  "Authentication",
  "Board and projects",
  "Cards",
  "Moves",
  "Timeline and comments",
  "Checks and reviews",
  "Labels and features",
  "Pages",
  "Releases",
  "Trunk",
  "Inbox",
  "Idempotency",
  "Errors and versions",
];

/** The sections of `docs/faults.md`, by the letter of their ids. There are at least `ids` of them. */
const FAULT_SECTIONS = [
  { letter: "A", title: "Killed processes", ids: 12 },
  { letter: "B", title: "Webhooks", ids: 13 },
  { letter: "C", title: "Responses of GitHub", ids: 20 },
  { letter: "D", title: "Repositories and branches", ids: 16 },
  { letter: "E", title: "Concurrency and the database", ids: 18 },
  { letter: "I", title: "Invariants", ids: 20 },
];

/** The ids that no test covers, and why. */
const NOT_COVERED: Readonly<Record<string, string>> = {
  E15: "The service runs for a long time => no test; `npm run soak` covers 30 minutes",
};

const MOST_WORDS = 16;
const COLUMNS = 100;

export interface Tag {
  readonly kind: "Contract" | "Fault" | "Invariant";
  /** A section of the contract, or the id of a fault or an invariant. */
  readonly subject: string;
  /** Empty for an id alone. */
  readonly sentence: string;
  /** The base name of the file. */
  readonly file: string;
}

export interface Tags {
  readonly tags: readonly Tag[];
  /** Comments that look like tags but are not, or have no test below. */
  readonly malformed: readonly string[];
}

/** Reads the tags of all files below `test` and `faults`. */
export function readTags(root: string): Tags {
  const found = ["test", "faults"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => tagsIn(basename(path), readFileSync(join(root, folder, path), "utf8"))),
  );
  return { tags: found.flatMap(({ tags }) => tags), malformed: found.flatMap(({ malformed }) => malformed) };
}

/** Reads the tags of one file. */
export function tagsIn(file: string, text: string): Tags {
  const lines = text.split("\n");
  const tags: Tag[] = [];
  const malformed: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (!LIKE_A_TAG.test(line)) continue;
    const tag = tagOf(file, line);
    const below = lines.slice(at + 1).find((next) => !COMMENT.test(next)) ?? "";
    const isAboveTest = file.endsWith(".test.ts") ? /^\s*(it|test|describe)\b/.test(below) : /\w/.test(below);
    if (tag && isAboveTest) tags.push(tag);
    else malformed.push(`${file}:${at + 1} is not a tag above a test: ${line.trim()}`);
  }
  return { tags, malformed };
}

function tagOf(file: string, line: string): Tag | null {
  const [, kind, rest = ""] = TAG.exec(line) ?? [];
  const pattern = kind === "Contract" ? /^([\w ]+): (.+)$/ : /^([A-Z]\d+)(?: (.+))?$/;
  const [, subject, sentence = ""] = pattern.exec(rest) ?? [];
  return subject === undefined ? null : { kind: kind as Tag["kind"], subject, sentence, file };
}

/** A line of a document: a sentence of the contract, or a fault or an invariant with its id. */
interface Entry {
  readonly id?: string;
  readonly sentence: string;
}

const isOfContract = ({ kind }: Tag): boolean => kind === "Contract";
const letterOf = (id: string): string => id.slice(0, 1);
const numberOf = (id: string): number => Number(id.slice(1));
const plain = (sentence: string): string => sentence.toLowerCase().replaceAll(/[^a-z0-9 ]/g, "");

/** The sentences of a section of the contract, in alphabetical order. */
function sentencesOf({ tags }: Tags, section: string): Entry[] {
  const own = tags.filter((tag) => isOfContract(tag) && tag.subject === section);
  const sentences = new Set(own.map(({ sentence }) => sentence));
  return [...sentences]
    .toSorted((one, other) => (plain(one) < plain(other) ? -1 : 1))
    .map((sentence) => ({ sentence }));
}

/** The faults or invariants whose ids begin with a letter, by number. */
function faultsOf({ tags }: Tags, letter: string): Entry[] {
  const named = tags.filter((tag) => !isOfContract(tag));
  const ids = new Set([...named.map(({ subject }) => subject), ...Object.keys(NOT_COVERED)]);
  return [...ids]
    .filter((id) => letterOf(id) === letter)
    .toSorted((one, other) => numberOf(one) - numberOf(other))
    .map((id) => {
      const own = named.filter(({ subject }) => subject === id);
      const sentence = own.find((tag) => tag.sentence !== "")?.sentence ?? NOT_COVERED[id] ?? "";
      return { id, sentence };
    });
}

/** `docs/contract.md` */
export function contractDocument(tags: Tags): string {
  return documentOf(
    "API contract",
    "What API clients can observe. Tests cover each sentence.",
    "Contract: Cards",
    CONTRACT_SECTIONS.map((title) => ({ title, entries: sentencesOf(tags, title) })),
  );
}

/** `docs/faults.md` */
export function faultsDocument(tags: Tags): string {
  return documentOf(
    "Faults",
    "Faults that tests inject, and the expected result.",
    "Fault: C7",
    FAULT_SECTIONS.map(({ letter, title }) => ({ title, entries: faultsOf(tags, letter) })),
  );
}

function documentOf(
  title: string,
  opening: string,
  example: string,
  sections: readonly { readonly title: string; readonly entries: readonly Entry[] }[],
): string {
  const parts = [
    `# ${title}`,
    opening,
    `Generated from tags in the tests by \`npm run test-tables\`.\n\`git grep "${example}"\` finds the tests.`,
    ...sections.flatMap((section) => [`## ${section.title}`, section.entries.map(bulletOf).join("\n")]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function bulletOf({ id, sentence }: Entry): string {
  const text = id === undefined ? sentence : `**${id}** ${sentence.replace(" => ", ": ")}`;
  return wrapped(`- ${text}`);
}

/** Wraps an entry of a list. */
export function wrapped(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length < COLUMNS) lines.splice(-1, 1, line === "" ? word : `${line} ${word}`);
    else lines.push(`  ${word}`);
  }
  return lines.join("\n");
}

/** Lists the problems of the tags. */
export function problemsOf(tags: Tags): string[] {
  const sentences = CONTRACT_SECTIONS.flatMap((section) => sentencesOf(tags, section));
  const faults = FAULT_SECTIONS.flatMap(({ letter }) => faultsOf(tags, letter));
  const all = [...sentences, ...faults].map(({ sentence }) => sentence);
  return [
    ...tags.malformed,
    ...tags.tags
      .filter((tag) => isOfContract(tag) && !CONTRACT_SECTIONS.includes(tag.subject))
      .map(({ subject, file }) => `${file}: there is no section ${subject}`),
    ...all
      .filter((sentence, at) => all.findIndex((other) => plain(other) === plain(sentence)) < at)
      .map((sentence) => `duplicate: ${sentence}`),
    ...all
      .filter((sentence) => sentence.replace(" => ", " ").split(" ").length > MOST_WORDS)
      .map((sentence) => `more than ${MOST_WORDS} words: ${sentence}`),
    ...idProblems(tags, faults),
  ];
}

function idProblems({ tags }: Tags, faults: readonly Entry[]): string[] {
  const named = tags.filter((tag) => !isOfContract(tag));
  const ids = new Set([...named.map(({ subject }) => subject), ...Object.keys(NOT_COVERED)]);
  const wanted = FAULT_SECTIONS.flatMap(({ letter, ids: least }) => {
    const numbers = [...ids].filter((id) => letterOf(id) === letter).map(numberOf);
    return Array.from({ length: Math.max(least, ...numbers) }, (_, at) => `${letter}${at + 1}`);
  });
  const described = named.filter(({ sentence }) => sentence !== "").map(({ subject }) => subject);
  const times = (id: string): number => described.filter((other) => other === id).length;
  return [
    ...wanted.filter((id) => !ids.has(id)).map((id) => `${id} is not covered`),
    ...[...ids].filter((id) => !wanted.includes(id)).map((id) => `there is no section for ${id}`),
    ...[...ids]
      .filter((id) => times(id) !== (id in NOT_COVERED ? 0 : 1))
      .map((id) => `${id} is described ${times(id)} times`),
    ...named
      .filter(({ kind, subject }) => (kind === "Invariant") !== (letterOf(subject) === "I"))
      .map(({ kind, subject, file }) => `${file}: ${kind} does not match ${subject}`),
    ...faults
      .filter(({ id = "", sentence }) => letterOf(id) !== "I" && !sentence.includes(" => "))
      .map(({ id }) => `${id} has no outcome after =>`),
  ];
}
