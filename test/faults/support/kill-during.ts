import { beforeAll, expect } from "@jest/globals";
import type { CallMatch } from "../../../sandbox/forge/control/match.ts";
import { eventually, type ApiResponse } from "../../support/api.ts";
import { onForge } from "../../support/forge/installations.ts";
import type { TestBoard } from "../../support/world.ts";
import type { KillableWorld } from "./killable-world.ts";

/** A call that runs on a new board when the service is killed. */
export interface KilledCall {
  readonly board: TestBoard;
  /** The forge's response that is delayed: before or after the effect, the first or a later one. */
  readonly held: Held;
  /** Makes the call, each time with the same key. */
  readonly act: () => Promise<ApiResponse>;
  /** The call is not repeated. */
  readonly isLeft?: boolean;
  /** Runs between the end of the service and its restart. */
  readonly whileDead?: () => Promise<unknown>;
}

export interface Held {
  readonly match: CallMatch;
  readonly effect: "before" | "after";
  readonly skip?: number;
}

/** Both sides of a call's effect, by name. */
export const aroundEach = (
  calls: Readonly<Record<string, Omit<Held, "effect">>>,
  effects: readonly Held["effect"][] = ["before", "after"],
): Record<string, Held> =>
  Object.fromEntries(
    effects.flatMap((effect) =>
      Object.entries(calls).map(([name, call]) => [`${effect} ${name}`, { ...call, effect }]),
    ),
  );

type ResponseOf<Story extends KilledCall> = Awaited<ReturnType<Story["act"]>>;

/** A running story and the response to its repeated call. */
export type RecordedStory<Story extends KilledCall> = Story & { readonly response: () => ResponseOf<Story> };

/** Starts a story for each name, kills the service, repeats the calls, and returns a story by name. */
export function killedTogether<Story extends KilledCall>(
  world: () => KillableWorld,
  points: Readonly<Record<string, Held>>,
  begin: (held: Held, name: string) => Promise<Story>,
): (name: string) => RecordedStory<Story> {
  const stories = new Map<string, RecordedStory<Story>>();
  beforeAll(async () => {
    const begun: (readonly [name: string, story: Story])[] = [];
    for (const [name, held] of Object.entries(points)) begun.push([name, await begin(held, name)]);
    await killDuring(
      world(),
      begun.map(([, story]) => story),
    );
    const results = await Promise.allSettled(begun.map(([, story]) => resultOf(story)));
    for (const [at, [name, story]] of begun.entries()) {
      const outcome = results[at];
      const response = (): ResponseOf<Story> => {
        if (outcome?.status !== "fulfilled")
          throw new Error(`${name}: no response`, { cause: outcome?.reason });
        if (outcome.value === null) throw new Error(`${name}: the call was not repeated`);
        return outcome.value as ResponseOf<Story>;
      };
      stories.set(name, { ...story, response });
    }
  });
  return (name) => {
    const story = stories.get(name);
    if (!story) throw new Error(`there is no story ${name}`);
    return story;
  };
}

const resultOf = async ({ act, isLeft }: KilledCall): Promise<ApiResponse | null> =>
  isLeft ? null : eventually(act, ({ status }) => status === 200);

/** Makes the calls, kills the service once all of them wait for a response, and restarts it. */
async function killDuring(world: KillableWorld, calls: readonly KilledCall[]): Promise<void> {
  const { faults } = world.forge.control;
  const held = calls.map(({ board, held: { match, effect, skip = 0 } }) => {
    const { id: installationId } = onForge(world, board).installation;
    return faults.add({
      match: { ...match, installationId },
      fault: { kind: "hang", effect },
      skip,
      times: 1,
    });
  });
  const results = calls.map(({ act }) =>
    act().then(
      () => "answered",
      () => "cut off",
    ),
  );
  await eventually(
    () => Promise.resolve(faults.list().filter(({ id, hits }) => held.includes(id) && hits === 0)),
    ({ length }) => length === 0,
  );
  await world.kill();
  expect(await Promise.all(results)).toEqual(calls.map(() => "cut off"));
  faults.clear();
  for (const { whileDead } of calls) await whileDead?.();
  await world.restart();
}
