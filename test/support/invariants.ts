import { checksState } from "../../src/flow/checks.ts";
import { stageOf, type Flow } from "../../src/flow/flow.ts";
import { isAncestor } from "../../sandbox/forge/git/history.ts";
import { readRef } from "../../sandbox/forge/git/refs.ts";
import { outcomesOf } from "../../sandbox/forge/queries/commit-outcomes.ts";
import type { PullRequestRow } from "../../sandbox/forge/rows.ts";
import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import type { Db } from "../../src/store/db/connect.ts";
import { acknowledgedFaults, unequalResponses } from "./responses.ts";
import { eventually, successes, type ApiCard, type TimelineEvent } from "./api.ts";
import { flowPath } from "./flows.ts";
import { readInbox, type InboxItem } from "./inbox.ts";
import { type SubmittedReview, duplicateEvents } from "./stories/duplicate-events.ts";
import type { TestBoard, TestWorld } from "./world.ts";

/** The sources of the comparison, besides the API: the tables, and the forge's state and Git. */
export interface Compared {
  readonly forge: RunningForge;
  readonly db: Db;
  /** What a branch was before people renamed or reset it. By default nobody has. */
  readonly formerly?: (forgeId: number, branchName: string) => FormerBranch;
}

/** Names and tips that a branch has had. */
export interface FormerBranch {
  readonly names: readonly string[];
  readonly tips: readonly string[];
}

/** Waits until API, tables and forge agree about a board; fails with the differences. */
export async function expectConsistent(compared: Compared, board: TestBoard): Promise<void> {
  await compared.forge.waitUntilIdle();
  await eventually(
    () => inconsistencies(compared, board),
    ({ length }) => length === 0,
  );
}

/** The boards that were compared with the forge after the test that created them. */
const held = new WeakSet<TestBoard>();

/** After each test: ends all faults and compares the test's boards, the newest one and shared ones. */
export async function leaveConsistent(
  { forge, service, boards }: TestWorld,
  ...shared: readonly TestBoard[]
): Promise<void> {
  forge.control.reset();
  const made = boards.filter((board) => !held.has(board));
  for (const board of new Set([...boards.slice(-1), ...made, ...shared])) {
    held.add(board);
    await expectConsistent({ forge, db: service.deps.db }, board);
  }
}

/** Ends all faults and compares all boards, except those whose rows a test changed itself. */
export async function expectAllConsistent(
  world: TestWorld,
  leftOut: readonly TestBoard[] = [],
): Promise<void> {
  world.forge.control.reset();
  for (const board of world.boards.filter((each) => !leftOut.includes(each))) {
    await expectConsistent({ forge: world.forge, db: world.service.deps.db }, board);
  }
}

interface LinkRow {
  readonly repository: string;
  readonly forgeId: number;
  readonly branchName: string | null;
  readonly headSha: string | null;
}

interface PullRow {
  readonly repository: string;
  readonly forgeId: number;
  readonly number: number;
  readonly state: string;
  readonly targetBranch: string;
}

export interface Observed {
  readonly card: ApiCard;
  readonly timeline: readonly TimelineEvent[];
  readonly links: readonly LinkRow[];
  readonly pulls: readonly PullRow[];
}

/** A difference, and the invariant of docs/faults.md that forbids it. */
export interface Inconsistency {
  readonly invariant: string;
  readonly text: string;
}

/** All differences of a board. */
export async function inconsistencies(compared: Compared, board: TestBoard): Promise<Inconsistency[]> {
  const { body: flow } = await board.api.get<Flow>(flowPath(board));
  const inbox = await readInbox(board.api, board.projectId);
  const numbers = await compared.db("cards").where({ project_id: board.projectId }).whereNull("deleted_at");
  const botLogin = compared.forge.context.state.accounts.need(compared.forge.app.botId).login;
  const found: Inconsistency[] = [];
  const tell = (invariant: string, faults: readonly string[], about = ""): void => {
    found.push(...faults.map((fault) => ({ invariant, text: `${about}${fault}` })));
  };
  const positions = new Map<number, number>();
  for (const { number } of numbers as { number: number }[]) {
    const observed = await observe(compared.db, board, number);
    positions.set(number, observed.card.position);
    const about = `card ${number}: `;
    tell("I4", stageFaults(flow, observed, inbox), about);
    tell("I5", duplicateEvents(observed.timeline, botLogin, reviewsOf(compared, observed)), about);
    tell("I2", await branchFaults(compared, observed), about);
    tell("I12", await headFaults(compared, flow, observed), about);
    tell("I12", pullFaults(compared, observed), about);
    tell("I12", checksFaults(compared, observed), about);
    tell("I1", await mergeFaults(compared, flow, observed), about);
    tell("I1", acknowledgedFaults(board, flow, observed), about);
    tell("I6", outsideFaults(compared, observed, inbox), about);
    tell("I8", await operationFaults(compared, observed), about);
  }
  tell("I7", await positionFaults(board, positions));
  tell(
    "I3",
    unequalResponses(successes, ({ apiKey, key }) => `${apiKey.slice(0, 12)} ${key}`),
  );
  return found;
}

async function observe(db: Db, board: TestBoard, number: number): Promise<Observed> {
  const card = await board.api.readCard(number);
  // A transferred repository belongs to another board; here it has history only.
  const of = (table: string) =>
    db(`${table} as t`)
      .join("repositories as r", "r.id", "t.repository_id")
      .where({ card_id: card.id })
      .whereNotNull("r.forge_id");
  return {
    card,
    timeline: await board.api.timeline(number),
    links: await of("card_repositories").select({
      repository: "r.full_name",
      forgeId: "r.forge_id",
      branchName: "t.branch_name",
      headSha: "t.head_sha",
    }),
    pulls: await of("pull_requests").select({
      repository: "r.full_name",
      forgeId: "r.forge_id",
      number: "t.number",
      state: "t.state",
      targetBranch: "t.target_branch",
    }),
  };
}

/** All reviews of a card's pull requests on the forge. */
function reviewsOf({ forge }: Compared, { pulls }: Observed): SubmittedReview[] {
  const { accounts, pullRequests, reviews } = forge.context.state;
  return pulls.flatMap(({ forgeId, repository, number: prNumber }) => {
    const there = pullRequests.inGroup(forgeId).find((pull) => pull.number === prNumber);
    return reviews.inGroup(there?.id ?? 0).flatMap(({ userId, state, submittedAt: at }) => {
      const login = accounts.get(userId)?.login ?? null;
      const review = { repositoryFullName: repository, prNumber, login, state: state.toLowerCase() };
      return at === null ? [] : [{ ...review, at }];
    });
  });
}

const lastOf = (timeline: readonly TimelineEvent[], kind: string): TimelineEvent | undefined =>
  timeline.findLast((event) => event.kind === kind);

// Invariant: I4 A card is where its last move put it; `blocked` matches the inbox
/** The stage is the one of the last successful move, and a blocked card has an inbox item: I4. */
function stageFaults(flow: Flow, { card, timeline }: Observed, inbox: readonly InboxItem[]): string[] {
  const moved = lastOf(timeline, "status_changed")?.data["to"] ?? flow.stages[0]?.id;
  const items = inbox.filter(
    (item) => item.kind === "promotion_blocked" && item.card?.number === card.number,
  );
  return [
    ...(moved === card.statusId
      ? []
      : [`is in ${card.statusId}, but its timeline has ${JSON.stringify(moved)}`]),
    ...((card.blocked === null ? 0 : 1) === items.length
      ? []
      : [`is ${card.blocked ? "" : "not "}blocked, but the inbox has ${items.length} items of it`]),
    ...(card.blocked?.statusId === card.statusId ? ["is blocked from its own stage"] : []),
  ];
}

/** The checks state of an open pull request's head is GitHub's, if GitHub has one. I12. */
function checksFaults({ forge }: Compared, { card, links, pulls }: Observed): string[] {
  return links.flatMap(({ forgeId, repository, branchName, headSha }) => {
    const isOpen = pulls.some(
      (pull) => pull.forgeId === forgeId && (pull.state === "open" || pull.state === "draft"),
    );
    const { checksState: ours = null } = card.repositories.find((each) => each.fullName === repository) ?? {};
    const reported = headSha === null ? [] : outcomesOf(forge.context, forgeId, headSha);
    const theirs = checksState(reported.map(({ outcome }) => outcome));
    if (!isOpen || theirs === null || theirs === ours) return [];
    return [`${repository} ${String(branchName)} has ${theirs} checks, but the card ${String(ours)}`];
  });
}

/** The head of an unfinished card's branch is in the table. Finished cards are not reconciled. I12. */
async function headFaults(
  { forge }: Compared,
  flow: Flow,
  { card, links, pulls }: Observed,
): Promise<string[]> {
  const isOpen = pulls.some(({ state }) => state === "draft" || state === "open");
  if (stageOf(flow, card.statusId)?.kind === "done" && !isOpen) return [];
  const found: string[] = [];
  for (const { forgeId, repository, branchName, headSha } of links) {
    const repo = forge.context.git.repository(forgeId);
    const head = branchName === null ? null : await readRef(repo, `refs/heads/${branchName}`);
    if (head === headSha) continue;
    found.push(
      `${repository} ${String(branchName)} is at ${head ?? "nothing"}, but in the table at ${headSha ?? "nothing"}`,
    );
  }
  return found;
}

// Invariant: I2
/** A card has one branch in each repository; others created for it belong to other cards: I2. */
async function branchFaults({ forge, db }: Compared, { card, links }: Observed): Promise<string[]> {
  const found: string[] = [];
  for (const { forgeId, repository, branchName } of links) {
    const repo = forge.context.git.repository(forgeId);
    const cut = (await db("forge_intents as i")
      .where({ card_id: card.id, kind: "create_branch" })
      .whereNot("subject", "like", "backmerge/%")
      .whereIn("repository_id", db("repositories").where({ forge_id: forgeId }).select("id"))
      .whereNotExists(
        db("card_repositories as another")
          .whereRaw("another.repository_id = i.repository_id and another.branch_name = i.subject")
          .whereNot("another.card_id", card.id),
      )) as {
      subject: string;
    }[];
    for (const { subject } of cut) {
      if (subject === branchName) continue;
      if ((await readRef(repo, `refs/heads/${subject}`)) !== null) {
        found.push(`${repository} has a second branch of it, ${subject}`);
      }
    }
  }
  return found;
}

const pullsFrom = (forge: RunningForge, forgeId: number, branchName: string | null): PullRequestRow[] =>
  forge.context.state.pullRequests.inGroup(forgeId).filter(({ headRef }) => headRef === branchName);

type LinkSeen = Observed["links"][number];

/** The forge's pull requests from a card's branch, and recorded ones from its earlier branches. */
function pullsOf(
  forge: RunningForge,
  { forgeId, branchName }: LinkSeen,
  pulls: Observed["pulls"],
): PullRequestRow[] {
  const known = pulls.filter((pull) => pull.forgeId === forgeId).map(({ number }) => number);
  return forge.context.state.pullRequests
    .inGroup(forgeId)
    .filter(({ number, headRef }) => headRef === branchName || known.includes(number));
}

const stateOf = (pull: PullRequestRow): string => {
  if (pull.mergedAt !== null) return "merged";
  if (pull.state === "closed") return "closed";
  return pull.draft ? "draft" : "open";
};

// Invariant: I12
/** The recorded pull requests have the forge's state, and at most one is open into each target: I12. */
function pullFaults({ forge }: Compared, { links, pulls }: Observed): string[] {
  return links.flatMap((link) => {
    const { forgeId, repository } = link;
    const known = pulls.filter((pull) => pull.forgeId === forgeId);
    const there = pullsOf(forge, link, pulls);
    const said = (states: readonly string[]): string => states.toSorted().join(", ") || "none";
    const theirs = said(there.map((pull) => `#${pull.number} ${stateOf(pull)} into ${pull.baseRef}`));
    const ours = said(known.map((pull) => `#${pull.number} ${pull.state} into ${pull.targetBranch}`));
    const targets = there.filter((pull) => pull.state === "open").map(({ baseRef }) => baseRef);
    return [
      ...(theirs === ours ? [] : [`${repository} has pull requests ${theirs}, but recorded are ${ours}`]),
      ...(new Set(targets).size === targets.length
        ? []
        : [`${repository} has two open ones into one target`]),
    ];
  });
}

// Invariant: I1
/** A recorded merge is in Git, and a card in a merge stage has its work there: I1. */
async function mergeFaults(
  { forge, formerly = () => ({ names: [], tips: [] }) }: Compared,
  flow: Flow,
  { card, timeline, links, pulls }: Observed,
): Promise<string[]> {
  const found: string[] = [];
  const entered = lastOf(timeline, "status_changed")?.at ?? "";
  const stage = stageOf(flow, card.statusId);
  for (const link of links) {
    const { forgeId, repository, branchName } = link;
    const row = forge.context.state.repositories.need(forgeId);
    const repo = forge.context.git.repository(forgeId);
    const there = pullsOf(forge, link, pulls);
    /** A deleted branch shows nothing. */
    const isIn = async (sha: string | null, branch: string): Promise<boolean> => {
      const { names, tips } = formerly(forgeId, branch);
      const refs = [branch, ...names].map((name) => readRef(repo, `refs/heads/${name}`));
      const all = [...(await Promise.all(refs)).filter((tip) => tip !== null), ...tips];
      if (all.length === 0) return true;
      const contained = await Promise.all(all.map(async (tip) => sha !== null && isAncestor(repo, sha, tip)));
      return contained.includes(true);
    };
    for (const { kind, repositoryFullName, data } of timeline) {
      if (kind !== "pull_request_merged" || repositoryFullName !== repository) continue;
      const pull = there.find((each) => each.number === data["prNumber"]);
      if (!(await isIn(pull?.mergeCommitSha ?? null, String(data["targetBranch"])))) {
        found.push(
          `records #${String(data["prNumber"])} as merged into ${String(data["targetBranch"])}, but Git does not`,
        );
      }
    }
    const linkedLater = timeline.some(
      ({ kind, repositoryFullName, at }) =>
        kind === "repository_linked" && repositoryFullName === repository && at >= entered,
    );
    if (stage?.rule.type !== "merge" || linkedLater) continue;
    const target = stage.rule.into ?? row.defaultBranch;
    const targets = [target, ...formerly(forgeId, target).names];
    const hasMerged = there.some((pull) => pull.mergedAt !== null && targets.includes(pull.baseRef));
    const head = await readRef(repo, `refs/heads/${String(branchName)}`);
    if (!hasMerged && !(await isIn(head, target))) {
      found.push(`is in ${stage.name}, but ${repository} has nothing of it on ${target}`);
    }
  }
  return found;
}

// Invariant: I6
/** Trunkline's merges are attributed to it, and others to their users: I6. */
function outsideFaults(
  { forge }: Compared,
  { card, timeline, links }: Observed,
  inbox: readonly InboxItem[],
): string[] {
  const ofOurs = inbox.filter(
    ({ kind, card: about, data, repository }) =>
      kind === "pr_merged_outside" &&
      about?.number === card.number &&
      timeline.some(
        (event) =>
          event.kind === "pull_request_merged" &&
          event.actor.login === null &&
          event.repositoryFullName === repository &&
          event.data["prNumber"] === data["prNumber"],
      ),
  );
  const unrecorded = links.flatMap(({ forgeId, repository, branchName }) =>
    pullsFrom(forge, forgeId, branchName)
      .filter(({ mergedAt }) => mergedAt !== null)
      .filter(
        ({ number }) =>
          !timeline.some(
            ({ kind, repositoryFullName, data }) =>
              kind === "pull_request_merged" &&
              repositoryFullName === repository &&
              data["prNumber"] === number,
          ),
      )
      .map(({ number }) => `does not record #${number}, which was merged in ${repository}`),
  );
  return [...ofOurs.map(() => "records a merge by Trunkline as one of somebody else"), ...unrecorded];
}

// Invariant: I8
/** No work is unfinished: I8. A move may wait for a merge queue only. */
async function operationFaults({ forge, db }: Compared, { card, links }: Observed): Promise<string[]> {
  const open: { state: string }[] = await db("operations")
    .where({ card_id: card.id })
    .whereIn("state", ["running", "queued"])
    .select("state");
  const isQueued = links.some(({ forgeId, branchName }) =>
    pullsFrom(forge, forgeId, branchName).some(({ queuedAt }) => queuedAt !== null),
  );
  return open
    .filter(({ state }) => state === "running" || !isQueued)
    .map(({ state }) => `has a move in state ${state}`);
}

// Invariant: I7 Positions in a column have no gaps
/** The positions of a column's cards, by number, have no gap: I7. */
async function positionFaults(board: TestBoard, positions: ReadonlyMap<number, number>): Promise<string[]> {
  const { body } = await board.api.get<{ columns: { name: string; tasks: { number: number }[] }[] }>(
    `/v1/board?projectId=${board.projectId}`,
  );
  const found: string[] = [];
  for (const { name, tasks } of body.columns) {
    for (const [at, { number }] of tasks.entries()) {
      const position = positions.get(number);
      if (position !== at)
        found.push(`card ${number}: is at ${at} of ${name}, but has position ${String(position)}`);
    }
  }
  return found;
}
