import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { column } from "../../src/store/db/connect.ts";
import { judge, secondsUntil } from "../judge.ts";
import { startLoad, type Load } from "../load/load.ts";
import { replaceByCopy } from "../setup/replicated.ts";
import type { HaWorld } from "../world.ts";

/** The service recovers within so many seconds after the promotion. */
const RECOVERY_SECONDS = 10;
/** Jobs whose end was lost are unlocked after 15 seconds. */
const JOBS_RECOVERY_SECONDS = 30;
/** Longer, so that a failed run reports how long it took. */
const GIVE_UP_SECONDS = 60;
const SECONDS_BEFORE = 6;
const SECONDS_AFTER = 6;
/** Between the loss of the primary and the promotion, in milliseconds. */
const OUTAGE_MS = 3_000;

interface Loss {
  readonly name: string;
  readonly cause: (world: HaWorld) => Promise<void>;
  /** Between the loss and the promotion, in milliseconds. */
  readonly outageMs: number;
}

export const KILLED: Loss = {
  name: "the primary is killed",
  cause: ({ postgres }) => postgres.primary.kill(),
  outageMs: OUTAGE_MS,
};

/**
 * Connections stay open, as when a machine loses its network. Nobody promotes before such a server
 * has been silent for some time.
 */
const SILENT: Loss = {
  name: "the primary does not respond",
  cause: ({ postgres }) => postgres.primary.freeze(),
  outageMs: 12_000,
};

type Say = (text: string) => void;

/** Kills the primary under load and promotes the standby. Later the old primary is started again. */
export const failOver = (world: HaWorld, say: Say): Promise<string[]> =>
  failOverAfter(KILLED, world, say, async () => {
    await world.postgres.primary.start();
    await closeConnections(world);
    return usersOfOldPrimary(world);
  });

/** The primary stops responding under load. After the promotion it responds again. */
export const failOverSilently = (world: HaWorld, say: Say): Promise<string[]> =>
  failOverAfter(SILENT, world, say, async () => {
    await world.postgres.primary.thaw();
    return usersOfOldPrimary(world);
  });

/** Loses the primary, promotes the standby, and returns what recovers too late. */
export async function loseAndPromote(
  { name, cause, outageMs }: Loss,
  world: HaWorld,
  load: Load,
  say: Say,
): Promise<string[]> {
  const { postgres, guide, history } = world;
  history.event("fault", name);
  await cause(world);
  await sleep(outageMs);
  const promotedAt = Date.now();
  await postgres.standby.shell(guide.promote);
  history.event("note", "the standby is promoted");
  const times = await recoveryTimes(world, load, promotedAt);
  say(times.map(({ what, seconds }) => `${what} ${seconds?.toFixed(1) ?? "never"} s`).join(", "));
  return times
    .filter(({ seconds, limit }) => seconds === null || seconds > limit)
    .map(
      ({ what, seconds }) =>
        `${what} recovered after ${seconds?.toFixed(1) ?? `more than ${GIVE_UP_SECONDS}`} s`,
    );
}

async function failOverAfter(
  loss: Loss,
  world: HaWorld,
  say: Say,
  bringBack: () => Promise<string[]>,
): Promise<string[]> {
  const { postgres, guide, history } = world;
  const load = await startLoad(world, 1);
  try {
    await sleep(SECONDS_BEFORE * 1_000);
    const late = await loseAndPromote(loss, world, load, say);
    const troubles = await bringBack();
    await postgres.primary.stop();
    await replaceByCopy(postgres.standby, postgres.primary, guide);
    history.event("note", "the old primary is a standby");
    await sleep(SECONDS_AFTER * 1_000);
    return [...late, ...troubles, ...(await judge(world, load))];
  } finally {
    await load.stop();
  }
}

const OF_THE_SERVICE = "from pg_stat_activity where application_name in ('trunkline', 'trunkline jobs')";
/** A commit that waits for the standby does not notice that its client has gone. */
const IN_USE = `select application_name, state, wait_event, left(query, 80) as query ${OF_THE_SERVICE} and wait_event is distinct from 'SyncRep'`;

const closeConnections = ({ postgres }: HaWorld): Promise<unknown> =>
  postgres.standby.sql(`select pg_terminate_backend(pid) ${OF_THE_SERVICE}`);

/** Waits until every process has opened connections again, and looks for some to the old primary. */
async function usersOfOldPrimary({ postgres, processes, boards }: HaWorld): Promise<string[]> {
  const [board] = boards;
  const writes = processes.map(({ name, baseUrl }) =>
    secondsUntil(Date.now(), GIVE_UP_SECONDS, () => canWrite(baseUrl, board?.api.apiKey ?? "")).then(
      (seconds) => (seconds === null ? [`${name} cannot write while the old primary runs`] : []),
    ),
  );
  const troubles = (await Promise.all(writes)).flat();
  let users: unknown[] = [];
  const isUnused = async (): Promise<boolean> => {
    users = await postgres.primary.sql(IN_USE);
    return users.length === 0;
  };
  const seconds = await secondsUntil(Date.now(), RECOVERY_SECONDS, isUnused);
  return [
    ...troubles,
    ...(seconds === null ? users.map((user) => `connected to the old primary: ${JSON.stringify(user)}`) : []),
  ];
}

interface Recovery {
  readonly what: string;
  /** Since the promotion; null if it took too long. */
  readonly seconds: number | null;
  /** How long it may take. */
  readonly limit: number;
}

/** How long each part of the service takes after the promotion. */
function recoveryTimes(world: HaWorld, { followers }: Load, promotedAt: number): Promise<Recovery[]> {
  const { processes, boards, deps } = world;
  const [board] = boards;
  const until = async (
    what: string,
    isTrue: () => Promise<boolean> | boolean,
    limit = RECOVERY_SECONDS,
  ): Promise<Recovery> => ({
    what,
    limit,
    seconds: await secondsUntil(promotedAt, GIVE_UP_SECONDS, isTrue),
  });
  const hasProcessedWebhook = async (): Promise<boolean> => {
    const sql = "select 1 from deliveries where state = 'done' and received_at > :from limit 1";
    const done = await column(deps.db, sql, { from: new Date(promotedAt) }).catch(() => []);
    return done.length > 0;
  };
  return Promise.all([
    ...processes.map(({ name, baseUrl }) => until(name, () => canWrite(baseUrl, board?.api.apiKey ?? ""))),
    ...followers.map(({ board: own, follower }) => {
      const before = follower.texts.length;
      return until(`${follower.name} of ${own.owner}`, () =>
        follower.texts.slice(before).some((text) => atOf(text) > promotedAt),
      );
    }),
    until("jobs", hasProcessedWebhook, JOBS_RECOVERY_SECONDS),
  ]);
}

const atOf = (event: string): number => Date.parse((JSON.parse(event) as { at: string }).at);

async function canWrite(baseUrl: string, apiKey: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/v1/labels`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "idempotency-key": `probe-${randomUUID()}`,
    },
    body: JSON.stringify({ name: `probe ${randomUUID()}` }),
    signal: AbortSignal.timeout(5_000),
  }).catch(() => null);
  return response?.status === 201;
}
