import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openJournal, readJournal, type Journal, type JournalEntry } from "./journal.ts";
import type {
  AccountRow,
  AppRow,
  CheckRunRow,
  CheckSuiteRow,
  CommentRow,
  DeliveryRow,
  InstallationRow,
  MergeRequestRow,
  PayloadRow,
  ProtectionRow,
  PullRequestRow,
  ReleaseRow,
  RepositoryRow,
  ReviewRow,
  StatusRow,
  TokenRow,
} from "./rows.ts";
import { Table } from "./table.ts";

/** How many webhook deliveries the log keeps; each holds its whole payload. */
const MAX_DELIVERIES = 2_000;

/** Everything the forge knows that git does not. The word in brackets is what `in(…)` of the table groups by. */
export interface ForgeState {
  /** [login in lower case] */
  readonly accounts: Table<AccountRow>;
  /** [token] */
  readonly tokens: Table<TokenRow>;
  /** ["app"]: there is one. */
  readonly apps: Table<AppRow>;
  /** [account id] */
  readonly installations: Table<InstallationRow>;
  /** [`owner id/name` in lower case] */
  readonly repositories: Table<RepositoryRow>;
  /** [repository id] */
  readonly pullRequests: Table<PullRequestRow>;
  /** [pull request id] */
  readonly reviews: Table<ReviewRow>;
  /** [pull request id] */
  readonly comments: Table<CommentRow>;
  /** [`repository id:sha`] */
  readonly statuses: Table<StatusRow>;
  /** [`repository id:sha`] */
  readonly checkSuites: Table<CheckSuiteRow>;
  /** [`repository id:sha`] */
  readonly checkRuns: Table<CheckRunRow>;
  /** [repository id] */
  readonly releases: Table<ReleaseRow>;
  /** [repository id] */
  readonly protections: Table<ProtectionRow>;
  /** [pull request id] */
  readonly mergeRequests: Table<MergeRequestRow>;
  /** [guid] */
  readonly deliveries: Table<DeliveryRow>;
  /** [id] */
  readonly payloads: Table<PayloadRow>;
  /** The next id; larger than any before it, over restarts too. */
  newId(): number;
  /** Drops deliveries past what the log keeps, and history where it fills the files. */
  tidy(): void;
  close(): void;
}

/** The group of rows that belong to one commit. */
export const commitKey = (repositoryId: number, sha: string): string => `${repositoryId}:${sha}`;
/** The group of the one repository with this name. */
export const repositoryKey = (ownerId: number, name: string): string => `${ownerId}/${name.toLowerCase()}`;

/** Opens the state kept in a folder, making it when it is not there. */
export function openState(dataDir: string): ForgeState {
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const files = { rows: join(dataDir, "forge.jsonl"), deliveries: join(dataDir, "deliveries.jsonl") };
  const rows = openJournal(files.rows);
  // Apart, because payloads are large and old ones are dropped.
  const deliveries = openJournal(files.deliveries);
  const tables = makeTables(
    (entry) => rows.append(entry),
    (entry) => deliveries.append(entry),
  );
  const { deliveries: log, payloads, ...others } = tables;
  let lastId = Math.max(
    1_000,
    restore(files.rows, Object.values(others), rows),
    restore(files.deliveries, [log, payloads], deliveries),
  );
  return {
    ...tables,
    newId: () => ++lastId,
    tidy() {
      trimDeliveries(tables);
      if (rows.isWorthCompacting()) rows.compact(currentEntries(Object.values(others), lastId));
      if (deliveries.isWorthCompacting()) deliveries.compact(currentEntries([log, payloads], lastId));
    },
    close() {
      rows.close();
      deliveries.close();
    },
  };
}

/** Drops the oldest deliveries past what the log keeps; a payload goes with the last delivery of it. */
function trimDeliveries({ deliveries, payloads }: Pick<ForgeState, "deliveries" | "payloads">): void {
  if (deliveries.size <= MAX_DELIVERIES) return;
  for (const old of deliveries.all().slice(0, deliveries.size - MAX_DELIVERIES)) {
    deliveries.delete(old.id);
    if (deliveries.in(old.guid).length === 0) payloads.delete(old.payloadId);
  }
}

const ofCommit = (row: { repositoryId: number; headSha: string }): string =>
  commitKey(row.repositoryId, row.headSha);

function makeTables(write: (entry: JournalEntry) => void, writeDelivery: (entry: JournalEntry) => void) {
  return {
    accounts: new Table<AccountRow>("accounts", (row) => row.login.toLowerCase(), write),
    tokens: new Table<TokenRow>("tokens", (row) => row.token, write),
    apps: new Table<AppRow>("apps", () => "app", write),
    installations: new Table<InstallationRow>("installations", (row) => row.accountId, write),
    repositories: new Table<RepositoryRow>(
      "repositories",
      (row) => repositoryKey(row.ownerId, row.name),
      write,
    ),
    pullRequests: new Table<PullRequestRow>("pullRequests", (row) => row.repositoryId, write),
    reviews: new Table<ReviewRow>("reviews", (row) => row.pullRequestId, write),
    comments: new Table<CommentRow>("comments", (row) => row.pullRequestId, write),
    statuses: new Table<StatusRow>("statuses", (row) => commitKey(row.repositoryId, row.sha), write),
    checkSuites: new Table<CheckSuiteRow>("checkSuites", ofCommit, write),
    checkRuns: new Table<CheckRunRow>("checkRuns", ofCommit, write),
    releases: new Table<ReleaseRow>("releases", (row) => row.repositoryId, write),
    protections: new Table<ProtectionRow>("protections", (row) => row.repositoryId, write),
    mergeRequests: new Table<MergeRequestRow>("mergeRequests", (row) => row.pullRequestId, write),
    deliveries: new Table<DeliveryRow>("deliveries", (row) => row.guid, writeDelivery),
    payloads: new Table<PayloadRow>("payloads", (row) => row.id, writeDelivery),
  };
}

/** What `restore` needs of a table, whatever its rows. */
interface Restored {
  readonly name: string;
  all(): { readonly id: number }[];
  restoreEntry(entry: JournalEntry): void;
}

/** Reads a journal into its tables and compacts it; answers the highest id it ever held. */
function restore(file: string, tables: readonly Restored[], journal: Journal): number {
  const byName = new Map(tables.map((table) => [table.name, table]));
  let highest = 0;
  for (const entry of readJournal(file)) {
    highest = Math.max(highest, "row" in entry ? entry.row.id : entry.gone);
    byName.get(entry.table)?.restoreEntry(entry);
  }
  journal.compact(currentEntries(tables, highest));
  return highest;
}

/** What a journal must say of its tables as they are now. */
function currentEntries(tables: readonly Restored[], highest: number): JournalEntry[] {
  const rows = tables.flatMap((table) => table.all().map((row) => ({ table: table.name, row })));
  return [{ table: "highest", gone: highest }, ...rows];
}
