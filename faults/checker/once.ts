import { rows } from "../../src/store/db/connect.ts";
import { unequalAnswers } from "../../test/support/answers.ts";
import { isSuccess, type Invariant } from "./subject.ts";

// Invariant: I2 One request creates nothing twice
/** I2: nothing was made twice by one request; and the forge shows each comment once on each pull request. */
export const nothingIsDoubled: Invariant = async ({ world, writes }) => {
  const { db } = world.deps;
  const found: string[] = [];
  const made = await rows<{ what: string; count: number }>(
    db,
    `select 'card ' || description as what, count(*) as count from cards where description <> '' group by 1
     union all select 'comment ' || body, count(*) from timeline_items where type = 'comment' and login is null group by 1
     union all select 'label ' || name, count(*) from labels group by 1
     union all select 'release ' || name, count(*) from releases group by 1`,
  );
  found.push(
    ...made.filter(({ count }) => count > 1).map(({ what, count }) => `there are ${count} of: ${what}`),
  );
  const asked = writes.filter(({ method, path }) => method === "POST" && path === "/v1/cards").length;
  const [cards] = await rows<{ count: number }>(db, "select count(*) as count from cards");
  if ((cards?.count ?? 0) > asked) found.push(`${cards?.count} cards came of ${asked} requests`);
  const { state } = world.forge.context;
  const marks = state.comments.all().flatMap(({ pullRequestId, body }) => {
    const mark = /^<!-- trunkline:comment ([0-9a-f-]{36})/.exec(body)?.[1];
    return mark === undefined ? [] : [`comment ${mark} on pull request ${pullRequestId}`];
  });
  found.push(...doubles(marks).map((mark) => `the forge shows twice: ${mark}`));
  const releases = state.releases.all().map(({ repositoryId, tagName }) => `${repositoryId} ${tagName}`);
  found.push(...doubles(releases).map((release) => `the forge has two releases of ${release}`));
  return found;
};

export const doubles = (names: readonly string[]): string[] => [
  ...new Set(names.filter((name, at) => names.indexOf(name) !== at)),
];

// Invariant: I3 A key and request have one response and one effect
/** I3: what one key and request were answered with is the same to the byte, and was carried out once. */
export const answersAreEqual: Invariant = ({ writes }) =>
  writes.flatMap(({ actor, key, attempts }) =>
    unequalAnswers(attempts.filter(isSuccess), () => `${actor} ${key}`),
  );
