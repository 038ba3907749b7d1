import { rows } from "../../src/store/db/connect.ts";
import { readInbox } from "../../test/support/inbox.ts";
import type { Invariant, Subject } from "./subject.ts";

interface Item {
  readonly id: string;
}

// Invariant: I5 A timeline only grows at its end, without duplicates
/**
 * Every earlier read of a timeline is a prefix of the final one, except for comments that people
 * deleted on the forge, and each event is on it once.
 */
export const timelinesOnlyGrow: Invariant = async (subject) => {
  const found: string[] = [];
  const { world, history, known } = subject;
  const deleted = await commentsDeletedOnForge(world);
  for (const { board, cards } of known) {
    for (const number of cards) {
      const path = `/v1/cards/${number}/timeline`;
      const last = (await board.api.get<readonly Item[]>(path)).body;
      const reads = history.calls
        .filter((call) => call.owner === board.owner && call.path === path && call.status === 200)
        .map(({ text }) => (JSON.parse(text) as readonly Item[]).filter(({ id }) => !deleted.has(id)));
      for (const read of reads) {
        const at = read.findIndex(({ id }, index) => last[index]?.id !== id);
        if (at >= 0)
          found.push(
            `${board.owner} card ${number}: item ${at} of the timeline has changed to ${JSON.stringify(last[at])}`,
          );
      }
    }
  }
  return [...new Set(found), ...(await duplicateItems(world.deps.db))];
};

/** The ids of deleted comments that the forge no longer has either. */
async function commentsDeletedOnForge({ deps, forge }: Subject["world"]): Promise<ReadonlySet<string>> {
  const bodies = new Set(forge.context.state.comments.all().map(({ body }) => body));
  const deleted = await rows<{ id: string; body: string }>(
    deps.db,
    "select id, body from timeline_items where type = 'comment' and deleted_at is not null",
  );
  return new Set(deleted.filter(({ body }) => !bodies.has(body)).map(({ id }) => id));
}

async function duplicateItems(db: Subject["world"]["deps"]["db"]): Promise<string[]> {
  const duplicates = await rows<{ what: string; count: number }>(
    db,
    `select c.number || ' ' || t.kind || ' ' || coalesce(t.data->>'prNumber', t.data->>'headSha', t.data->>'after', '') as what, count(*) as count
       from timeline_items t join cards c on c.id = t.card_id
      where t.kind in ('pull_request_merged', 'pull_request_opened', 'release_completed')
      group by t.card_id, t.repository_id, t.kind, c.number, t.data->>'prNumber', t.data->>'headSha', t.data->>'after', t.data->>'releaseId', t.data->>'releaseName'
     having count(*) > 1
     union all
     select 'comment ' || body, count(*) from timeline_items
      where type = 'comment' and deleted_at is null group by card_id, body having count(*) > 1`,
  );
  return duplicates.map(({ what, count }) => `on the timeline ${count} times: ${what}`);
}

// Invariant: I6 Merges are attributed as they happened
/**
 * Merges by people are attributed to them, and are in the inbox until the card is done. A repository
 * that leaves a project unlinks its cards without merged work: what is merged there later is no
 * longer theirs.
 */
export const mergesByOthersAreReported: Invariant = async ({ world, known }) => {
  const { state } = world.forge.context;
  const found: string[] = [];
  const bot = world.forge.app.botId;
  for (const { board } of known) {
    const inbox = await readInbox(board.api, board.projectId);
    const pulls = await rows<PullRow>(
      world.deps.db,
      `select p.number, r.forge_id as "forgeId", r.full_name as repository, c.number as card, s.kind as stage, t.login
         from pull_requests p join repositories r on r.id = p.repository_id
         join cards c on c.id = p.card_id and c.workspace_id = :workspaceId
         join stages s on s.id = c.stage_id
         join card_repositories l on l.card_id = p.card_id and l.repository_id = p.repository_id
         left join timeline_items t on t.card_id = c.id and t.kind = 'pull_request_merged'
          and t.repository_id = p.repository_id and (t.data->>'prNumber')::int = p.number
        where p.target_branch = r.default_branch`,
      { workspaceId: board.workspaceId },
    );
    for (const { number, forgeId, repository, card, stage, login } of pulls) {
      const pull = state.pullRequests.inGroup(forgeId).find((each) => each.number === number);
      if (!pull?.mergedAt || pull.mergedById === bot) continue;
      const person = state.accounts.get(pull.mergedById ?? 0)?.login;
      const isInInbox = inbox.some(
        (item) =>
          item.kind === "pr_merged_outside" &&
          item.card?.number === card &&
          item.data["prNumber"] === number &&
          item.repository === repository,
      );
      if (login !== person)
        found.push(
          `card ${card}: ${repository}#${number} was merged by ${person}, but the timeline names ${login}`,
        );
      else if (stage !== "done" && !isInInbox)
        found.push(`card ${card}: ${repository}#${number} was merged by ${person}, but is not in the inbox`);
    }
  }
  return found;
};

interface PullRow {
  readonly number: number;
  readonly forgeId: number;
  readonly repository: string;
  readonly card: number;
  readonly stage: string;
  readonly login: string | null;
}
