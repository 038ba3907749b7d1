import { beforeAll, expect } from "@jest/globals";
import type { CallMatch } from "../../../sandbox/forge/control/match.ts";
import { eventually, type ApiAnswer } from "../../support/api.ts";
import { onForge } from "../../support/forge/installations.ts";
import type { TestBoard } from "../../support/world.ts";
import type { KillableWorld } from "./killable-world.ts";

/** A call under way on a board of its own when the service is killed. */
export interface Doomed {
  readonly board: TestBoard;
  /** The forge's answer that is held back: before or after the effect, the first one or after so many. */
  readonly held: Held;
  /** Makes the call: each time the same one, under one key. */
  readonly act: () => Promise<ApiAnswer>;
  /** Nobody makes it again. */
  readonly isLeft?: boolean;
  /** What happens between the end of the service and its next start. */
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

type AnswerOf<Story extends Doomed> = Awaited<ReturnType<Story["act"]>>;

/** A story that was begun, and what its call was answered when it was made again. */
export type Told<Story extends Doomed> = Story & { readonly answer: () => AnswerOf<Story> };

/**
 * Before the tests of a block: begins a story for each name, kills the service once, under all of them, and has the callers come back at
 * once, before anybody else goes on with what they began. Gives a name's story.
 */
export function killedTogether<Story extends Doomed>(
  world: () => KillableWorld,
  points: Readonly<Record<string, Held>>,
  begin: (held: Held, name: string) => Promise<Story>,
): (name: string) => Told<Story> {
  const stories = new Map<string, Told<Story>>();
  beforeAll(async () => {
    const begun: (readonly [name: string, story: Story])[] = [];
    for (const [name, held] of Object.entries(points)) begun.push([name, await begin(held, name)]);
    await killDuring(
      world(),
      begun.map(([, story]) => story),
    );
    const answers = await Promise.allSettled(begun.map(([, story]) => answerTo(story)));
    for (const [at, [name, story]] of begun.entries()) {
      const outcome = answers[at];
      const answer = (): AnswerOf<Story> => {
        if (outcome?.status !== "fulfilled")
          throw new Error(`${name}: no answer`, { cause: outcome?.reason });
        if (outcome.value === null) throw new Error(`${name}: nobody came back`);
        return outcome.value as AnswerOf<Story>;
      };
      stories.set(name, { ...story, answer });
    }
  }, 300_000);
  return (name) => {
    const story = stories.get(name);
    if (!story) throw new Error(`nothing was begun ${name}`);
    return story;
  };
}

const answerTo = async ({ act, isLeft }: Doomed): Promise<ApiAnswer | null> =>
  isLeft ? null : eventually(act, ({ status }) => status === 200, 30_000);

/**
 * Makes the calls, kills the service once the forge holds back an answer to each, and starts it again. One kill for many costs
 * a start instead of many, and leaves more behind than one for each.
 */
async function killDuring(world: KillableWorld, calls: readonly Doomed[]): Promise<void> {
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
  const answers = calls.map(({ act }) =>
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
  expect(await Promise.all(answers)).toEqual(calls.map(() => "cut off"));
  faults.clear();
  for (const { whileDead } of calls) await whileDead?.();
  await world.restart();
}
