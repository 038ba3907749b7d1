import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openJournal, readJournal, type Journal, type JournalEntry } from "./journal.ts";
import type {
  AccountRow,
  AppRow,
  BranchPushRow,
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
  ReviewThreadRow,
  RulesetRow,
  StatusRow,
  TokenRow,
} from "./rows.ts";
import { Table } from "./table.ts";

/** The size of the delivery log; each delivery has its payload. */
const MAX_DELIVERIES = 2_000;

/** All data of the forge that is not in Git. */
export interface ForgeState extends Readonly<ReturnType<typeof makeTables>> {
  /** Increases also across restarts. */
  newId(): number;
  /** Deletes the oldest deliveries of a full log and compacts the files if needed. */
  trim(): void;
  close(): void;
}

export const commitKey = (repositoryId: number, sha: string): string => `${repositoryId}:${sha}`;
export const repositoryKey = (ownerId: number, name: string): string => `${ownerId}/${name.toLowerCase()}`;

/** Opens the state in a folder, which is created if missing. */
export function openState(dataDir: string): ForgeState {
  mkdirSync(dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const files = { rows: join(dataDir, "forge.jsonl"), deliveries: join(dataDir, "deliveries.jsonl") };
  const rows = openJournal(files.rows);
  // A separate file, because payloads are large and old ones are deleted.
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
    trim() {
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

/** Deletes the oldest deliveries of a full log, and payloads without a delivery. */
function trimDeliveries({ deliveries, payloads }: Pick<ForgeState, "deliveries" | "payloads">): void {
  if (deliveries.size <= MAX_DELIVERIES) return;
  for (const old of deliveries.all().slice(0, deliveries.size - MAX_DELIVERIES)) {
    deliveries.delete(old.id);
    if (deliveries.inGroup(old.guid).length === 0) payloads.delete(old.payloadId);
  }
}

const ofCommit = (row: { repositoryId: number; headSha: string }): string =>
  commitKey(row.repositoryId, row.headSha);

/** The second argument of a table returns the key that `in` finds rows by. */
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
    reviewThreads: new Table<ReviewThreadRow>("reviewThreads", (row) => row.pullRequestId, write),
    comments: new Table<CommentRow>("comments", (row) => row.pullRequestId, write),
    statuses: new Table<StatusRow>("statuses", (row) => commitKey(row.repositoryId, row.sha), write),
    checkSuites: new Table<CheckSuiteRow>("checkSuites", ofCommit, write),
    checkRuns: new Table<CheckRunRow>("checkRuns", ofCommit, write),
    releases: new Table<ReleaseRow>("releases", (row) => row.repositoryId, write),
    protections: new Table<ProtectionRow>("protections", (row) => row.repositoryId, write),
    rulesets: new Table<RulesetRow>("rulesets", (row) => row.repositoryId, write),
    branchPushes: new Table<BranchPushRow>("branchPushes", (row) => row.repositoryId, write),
    mergeRequests: new Table<MergeRequestRow>("mergeRequests", (row) => row.pullRequestId, write),
    deliveries: new Table<DeliveryRow>("deliveries", (row) => row.guid, writeDelivery),
    payloads: new Table<PayloadRow>("payloads", (row) => row.id, writeDelivery),
  };
}

/** A table of any row type. */
interface AnyTable {
  readonly name: string;
  all(): { readonly id: number }[];
  restoreEntry(entry: JournalEntry): void;
}

/** Reads a journal into its tables and compacts it; returns the highest id it ever contained. */
function restore(file: string, tables: readonly AnyTable[], journal: Journal): number {
  const byName = new Map(tables.map((table) => [table.name, table]));
  let highest = 0;
  for (const entry of readJournal(file)) {
    highest = Math.max(highest, "row" in entry ? entry.row.id : entry.gone);
    byName.get(entry.table)?.restoreEntry(entry);
  }
  journal.compact(currentEntries(tables, highest));
  return highest;
}

/** The journal entries of the current rows and the highest id. */
function currentEntries(tables: readonly AnyTable[], highest: number): JournalEntry[] {
  const rows = tables.flatMap((table) => table.all().map((row) => ({ table: table.name, row })));
  return [{ table: "highest", gone: highest }, ...rows];
}
