import { rows } from "../../src/store/db/connect.ts";
import type { MoveResponse } from "../../test/support/api.ts";
import { lostMoves } from "./acknowledged-moves.ts";
import {
  responseOf,
  cardNumberOf,
  cardsOf,
  mayBeLast,
  type Invariant,
  type Subject,
  type Write,
} from "./subject.ts";

// Invariant: I1 Everything that the API has acknowledged exists
export const nothingAcknowledgedIsLost: Invariant = async (subject) => {
  const found: string[] = [];
  for (const { board } of subject.known) {
    const writes = subject.writes.filter(({ owner }) => owner === board.owner);
    found.push(
      ...(await lostCards(subject, board.workspaceId, writes)),
      ...(await lostThings(subject, writes, "labels", "/v1/labels")),
      ...(await lostThings(subject, writes, "releases", "/v1/releases")),
      ...(await lostComments(subject, board.workspaceId, writes)),
      ...lostMerges(subject, writes),
      ...(await lostMoves(subject, board, writes)),
      ...(await lostReleases(subject, writes)),
    );
  }
  return found;
};

const successes = (writes: readonly Write[], method: string, path: RegExp) =>
  writes.flatMap((write) =>
    write.method === method && path.test(write.path) && write.success
      ? [{ write, success: write.success }]
      : [],
  );

/** Created cards exist and have the last acknowledged title. */
async function lostCards(subject: Subject, workspaceId: string, writes: readonly Write[]): Promise<string[]> {
  const cards = new Map((await cardsOf(subject, workspaceId)).map((card) => [card.number, card]));
  return successes(writes, "POST", /^\/v1\/cards$/).flatMap(({ write, success }) => {
    const { number } = responseOf(success) as { number: number };
    const card = cards.get(number);
    if (!card || card.description !== write.sent["description"])
      return [`card ${number}, created by ${write.key}, does not exist`];
    const titles = [
      write,
      ...writes.filter((each) => each.method === "PATCH" && cardNumberOf(each) === number),
    ]
      .filter(({ sent }) => typeof sent["title"] === "string")
      .map(({ sent, start, end, success: acknowledged }) => ({
        value: String(sent["title"]),
        start,
        end,
        isAcknowledged: acknowledged !== null,
      }));
    return mayBeLast(card.title, titles)
      ? []
      : [`card ${number} has the title ${card.title}, but a later acknowledged title is lost`];
  });
}

async function lostThings(
  { world }: Subject,
  writes: readonly Write[],
  table: "labels" | "releases",
  path: string,
): Promise<string[]> {
  const created = successes(writes, "POST", new RegExp(`^${path}$`)).map(
    ({ success }) => (responseOf(success) as { id: string }).id,
  );
  const existing = await world.deps.db<{ id: string }>(table).whereIn("id", created).select("id");
  const ids = new Set(existing.map(({ id }) => id));
  return created.filter((id) => !ids.has(id)).map((id) => `${table}: ${id} was created but does not exist`);
}

async function lostComments(
  { world }: Subject,
  workspaceId: string,
  writes: readonly Write[],
): Promise<string[]> {
  const comments = await rows<{ id: string; body: string }>(
    world.deps.db,
    `select t.id, t.body from timeline_items t join cards c on c.id = t.card_id
      where c.workspace_id = :workspaceId and t.type = 'comment'`,
    { workspaceId },
  );
  const bodies = new Map(comments.map(({ id, body }) => [id, body]));
  return successes(writes, "POST", /\/comments$/)
    .filter(
      ({ write, success }) => bodies.get((responseOf(success) as { id: string }).id) !== write.sent["body"],
    )
    .map(({ write }) => `the comment of ${write.key} does not exist or has another text`);
}

/** Pull requests that moves reported as merged are merged on the forge. */
function lostMerges({ world }: Subject, writes: readonly Write[]): string[] {
  const { state } = world.forge.context;
  return successes(writes, "POST", /\/move$/).flatMap(({ write, success }) =>
    (responseOf(success) as MoveResponse).promoted.flatMap(({ fullName, prNumber }) => {
      const repository = state.repositories.all().find(({ name, ownerId, formerNames }) => {
        const owner = state.accounts.need(ownerId).login;
        return `${owner}/${name}` === fullName || formerNames.includes(fullName.toLowerCase());
      });
      const pull = state.pullRequests.inGroup(repository?.id ?? 0).find(({ number }) => number === prNumber);
      return pull?.mergedAt
        ? []
        : [`${write.key} reports that ${fullName}#${prNumber} is merged, but it is not`];
    }),
  );
}

/** Completed releases are completed, and their tags are at the reported commits. */
async function lostReleases({ world }: Subject, writes: readonly Write[]): Promise<string[]> {
  const { state, git } = world.forge.context;
  const found: string[] = [];
  for (const { write, success } of successes(writes, "POST", /\/complete$/)) {
    const { id, tags } = responseOf(success) as {
      id: string;
      tags: readonly { repositoryId: string; tagName: string; sha: string }[];
    };
    const release = await world.deps
      .db<{ id: string; status: string }>("releases")
      .where("id", id)
      .first("status");
    if (release?.status !== "completed")
      found.push(`the release ${id} was completed but is ${release?.status ?? "missing"}`);
    for (const { repositoryId, tagName, sha } of tags) {
      const row = await world.deps
        .db<{ forge_id: number }>("repositories")
        .where("id", repositoryId)
        .first("forge_id");
      const forgeId = row?.forge_id ?? 0;
      const { stdout } = await git
        .repository(forgeId)
        .run(["rev-parse", "--verify", "-q", `refs/tags/${tagName}^{commit}`], { codes: [1] });
      if (stdout.toString("utf8").trim() !== sha)
        found.push(`${write.key}: the tag ${tagName} is not at ${sha}`);
      const published = state.releases.inGroup(forgeId).filter((each) => each.tagName === tagName);
      if (published.length !== 1)
        found.push(`${write.key}: ${published.length} releases are published for ${tagName}`);
    }
  }
  return found;
}
