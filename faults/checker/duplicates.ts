import { rows } from "../../src/store/db/connect.ts";
import { unequalResponses } from "../../test/support/responses.ts";
import { isSuccess, type Invariant } from "./subject.ts";

// Invariant: I2 One request creates nothing twice
/** The forge also shows each comment once per pull request, and one release per tag. */
export const nothingIsDuplicated: Invariant = async ({ world, writes }) => {
  const { db } = world.deps;
  const found: string[] = [];
  const created = await rows<{ what: string; count: number }>(
    db,
    `select 'card ' || description as what, count(*) as count from cards where description <> '' group by 1
     union all select 'comment ' || body, count(*) from timeline_items where type = 'comment' and login is null group by 1
     union all select 'label ' || name, count(*) from labels group by 1
     union all select 'release ' || name, count(*) from releases group by 1`,
  );
  found.push(
    ...created.filter(({ count }) => count > 1).map(({ what, count }) => `created ${count} times: ${what}`),
  );
  const requests = writes.filter(({ method, path }) => method === "POST" && path === "/v1/cards").length;
  const [cards] = await rows<{ count: number }>(db, "select count(*) as count from cards");
  if ((cards?.count ?? 0) > requests) found.push(`${requests} requests created ${cards?.count} cards`);
  const { state } = world.forge.context;
  const markers = state.comments.all().flatMap(({ pullRequestId, body }) => {
    const id = /^<!-- trunkline:comment ([0-9a-f-]{36})/.exec(body)?.[1];
    return id === undefined ? [] : [`comment ${id} on pull request ${pullRequestId}`];
  });
  found.push(...doubles(markers).map((marker) => `the forge shows twice: ${marker}`));
  const releases = state.releases.all().map(({ repositoryId, tagName }) => `${repositoryId} ${tagName}`);
  found.push(...doubles(releases).map((release) => `the forge has two releases of ${release}`));
  return found;
};

const doubles = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, at) => names.indexOf(name) !== at)),
];

// Invariant: I3 A key and request have one response and one effect
export const responsesAreEqual: Invariant = ({ writes }) =>
  writes.flatMap(({ actor, key, attempts }) =>
    unequalResponses(attempts.filter(isSuccess), () => `${actor} ${key}`),
  );
