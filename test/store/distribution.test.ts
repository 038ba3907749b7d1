import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";

interface Table {
  readonly name: string;
  /** The names of columns that are never null. */
  readonly required: ReadonlySet<string>;
  readonly references: readonly { readonly columns: readonly string[]; readonly to: string }[];
  readonly uniques: readonly (readonly string[])[];
  /** Whether `id` is a UUID, not a number of a sequence. */
  readonly hasRandomId: boolean;
}

/** Tables whose rows belong to no workspace, and how they are treated in a distributed database. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  // Copied to every part, and small.
  organizations: "an installation, whose workspaces stay together",
  users: "a person or an agent may belong to several workspaces",
  credentials: "an agent's key may reach several workspaces",
  secrets: "one value for all processes",
  sessions: "belong to a credential",
  last_uses: "belong to a user",
  sign_ins: "belong to nobody",
  // Belong to an organization through its repositories, and move with its workspaces.
  repositories: "belong to an organization",
  check_reports: "belong to a repository",
  trunks: "belong to a repository",
  landings: "belong to a repository",
  // State of one part of the service.
  deliveries: "webhooks that are not assigned yet",
  forge_limits: "rate limits of an installation",
  forge_turns: "pace of an installation",
  idempotency_keys: "deleted after a day; belong to a credential",
  instances: "running processes",
  job_progress: "progress of jobs",
  audit_chain: "the end of the chain of hashes",
  // Counters without foreign keys, which triggers fill and any part can compute again.
  board_changes: "changes of a project",
};

/** Unique keys without a key of the workspace, other than random ids, and why they stay unique. */
const UNIQUE_EVERYWHERE: Readonly<Record<string, string>> = {
  "audit_log (position)": "positions in the chain of this part",
  "events (id)": "never leaves the database; clients see seq, which is unique for the workspace",
  "sign_in_links (token_hash)": "hashes of random tokens",
  "webhook_deliveries (id)": "a copy gets new ids",
};

const listOf = (columns: string): string[] => columns.split(", ").map((each) => each.replaceAll('"', ""));

function readTables(): Map<string, Table> {
  const sql = readFileSync(join(import.meta.dirname, "../../schema.sql"), "utf8");
  const indexes = [
    ...sql.matchAll(/^CREATE UNIQUE INDEX \S+ ON (\S+) USING btree \((.*?)\)(?: WHERE .*)?;$/gm),
  ];
  const tables = [...sql.matchAll(/^CREATE TABLE (\S+) \(\n(.*?)^\);/gms)].map(
    ([, name = "", body = ""]) => ({
      name,
      required: new Set([...body.matchAll(/^ {2}([\w"]+) .*NOT NULL,?$/gm)].map(([, column = ""]) => column)),
      references: [...body.matchAll(/FOREIGN KEY \((.*?)\) REFERENCES (\w+)/g)].map(
        ([, columns = "", to = ""]) => ({
          columns: listOf(columns),
          to,
        }),
      ),
      hasRandomId: /^ {2}id uuid/m.test(body),
      uniques: [
        ...[...body.matchAll(/(?:PRIMARY KEY|UNIQUE) \((.*?)\)/g)].map(([, columns = ""]) => listOf(columns)),
        ...indexes.filter(([, table]) => table === name).map(([, , columns = ""]) => listOf(columns)),
      ],
    }),
  );
  return new Map(tables.map((table) => [table.name, table]));
}

const tables = readTables();

/** The tables whose rows each belong to one workspace: by a column, or by their parent rows. */
function ownedTables(): Set<string> {
  const owned = new Set(["workspaces"]);
  const isOwned = ({ required, references }: Table): boolean =>
    required.has("workspace_id") ||
    references.some(({ columns, to }) => owned.has(to) && columns.every((column) => required.has(column)));
  for (let before = 0; before < owned.size;) {
    before = owned.size;
    for (const table of tables.values()) if (isOwned(table)) owned.add(table.name);
  }
  return owned;
}

const owned = ownedTables();
/** Parents whose rows stay with the workspace. */
const MOVES_WITH_WORKSPACE = new Set([...owned, "organizations", "repositories", "trunks"]);

/** The workspace, or a parent row that belongs to it or to its organization. */
const keysOf = ({ references }: Table): Set<string> =>
  new Set([
    "workspace_id",
    ...references.filter(({ to }) => MOVES_WITH_WORKSPACE.has(to)).flatMap((each) => each.columns),
  ]);

describe("the tables can be distributed by workspace", () => {
  it("every table belongs to a workspace or is a known exception", () => {
    const others = [...tables.keys()].filter((name) => !owned.has(name) && name !== "audit_log");
    expect(tables.size).toBeGreaterThan(50);
    expect(others.toSorted()).toEqual(Object.keys(EXCEPTIONS).toSorted());
  });

  it("every unique key is a random id or contains a key of the workspace", () => {
    const found = [...owned, "audit_log"].flatMap((name) => {
      const table = tables.get(name);
      if (table === undefined) return [];
      const keys = keysOf(table);
      const sql = (columns: readonly string[]): string => `${name} (${columns.join(", ")})`;
      const isRandom = (columns: readonly string[]): boolean => columns.join() === "id" && table.hasRandomId;
      return table.uniques
        .filter((columns) => !isRandom(columns) && !columns.some((column) => keys.has(column)))
        .map(sql);
    });
    expect(found.toSorted()).toEqual(Object.keys(UNIQUE_EVERYWHERE).toSorted());
  });
});
