import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rows, type Db } from "../../src/store/db/connect.ts";
import type { Invariant } from "./subject.ts";

// Invariant: I9 Nobody without access reads or changes anything
export const tenantsAreIsolated: Invariant = async ({ world, history, known }) => {
  const found: string[] = [];
  for (const { owner, path, method, text } of history.calls) {
    for (const { board } of known) {
      if (board.owner === owner) continue;
      if (text.includes(`only-${board.owner}`) || text.includes(board.workspaceId)) {
        found.push(`${method} ${path} showed ${owner} data of ${board.owner}: ${text.slice(0, 300)}`);
      }
    }
  }
  const foreign = await rows<{ what: string }>(
    world.deps.db,
    `select 'card ' || number || ' ' || title as what from cards where title like 'intruder%'
     union all select 'label ' || name from labels where name like 'intruder%'
     union all select 'card ' || c.number || ' has a label of another board' from card_labels l
       join cards c on c.id = l.card_id join labels b on b.id = l.label_id where b.workspace_id <> c.workspace_id
     union all select 'card ' || c.number || ' has a repository of another project' from card_repositories l
       join cards c on c.id = l.card_id join repositories r on r.id = l.repository_id
       where l.project_id is not null and r.project_id <> c.project_id`,
  );
  return [...found, ...foreign.map(({ what }) => `changed by another tenant: ${what}`)];
};

// Invariant: I10 No secret is in a log, table or response
export const noSecretIsExposed: Invariant = async ({ world, history }) => {
  const secrets = [
    ...world.secrets,
    ...[...world.record.tokens].map((token) => ["an installation token", token] as const),
  ].filter(([, secret]) => secret.length >= 8);
  const found: string[] = [];
  const inspect = (where: string, text: string): void => {
    for (const [name, secret] of secrets) if (text.includes(secret)) found.push(`${name} is in ${where}`);
  };
  for (const file of readdirSync(world.logFolder).filter((name) => name.endsWith(".log"))) {
    inspect(file, readFileSync(join(world.logFolder, file), "utf8"));
  }
  for (const { method, path, text } of history.calls) inspect(`a response to ${method} ${path}`, text);
  for (const [table, text] of await dumpOf(world.deps.db)) inspect(`the table ${table}`, text);
  return [...new Set(found)];
};

/** Every row of every table as text. */
async function dumpOf(db: Db): Promise<[string, string][]> {
  const tables = await db.raw<{ rows: { name: string }[] }>(
    "select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'graphile_worker')",
  );
  const dump: [string, string][] = [];
  for (const { name } of tables.rows) {
    const result = await db.raw<{ rows: { text: string }[] }>(`select t::text as text from ${name} t`);
    dump.push([name, result.rows.map(({ text }) => text).join("\n")]);
  }
  return dump;
}
