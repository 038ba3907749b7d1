import { randomUUID } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { readColumns } from "../support/flows.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();

type StageName = keyof TestBoard["stages"];
const STAGES: readonly StageName[] = ["Backlog", "To do", "In progress", "In review", "Done"];

/** The expected content of a board. */
interface Model {
  readonly columns: Map<StageName, number[]>;
  readonly cards: Map<number, { labels: Set<string>; feature: string | null }>;
  readonly labels: string[];
  readonly features: string[];
}

const place = fc.nat(20);
const stage = fc.constantFrom(...STAGES);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("create" as const), stage }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("move" as const), card: place, stage, index: fc.nat(5) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("label" as const),
      card: place,
      labels: fc.array(place, { maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("feature" as const), card: place, feature: fc.option(place) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), card: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unlabel" as const), label: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("unfeature" as const), feature: place }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("new label" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("new feature" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % items.length];

/** Runs a step on the board and in the model; a step without a target does nothing. */
async function runStep(step: Step, { api, stages }: TestBoard, model: Model): Promise<void> {
  const { columns, cards, labels, features } = model;
  const number = "card" in step ? pick([...cards.keys()], step.card) : undefined;
  const card = number === undefined ? undefined : cards.get(number);
  const removeFromColumn = (removed: number): void => {
    for (const [name, column] of columns)
      columns.set(
        name,
        column.filter((each) => each !== removed),
      );
  };
  const expectSuccess = async (call: Promise<{ status: number }>): Promise<void> => {
    expect((await call).status).toBeLessThan(300);
  };
  if (step.do === "create") {
    const created = await api.card({ repositoryIds: [], statusId: stages[step.stage] });
    cards.set(created.number, { labels: new Set(), feature: null });
    columns.get(step.stage)?.push(created.number);
  } else if (step.do === "new label") {
    const { body } = await api.post<{ id: string }>("/v1/labels", {
      name: `Label ${labels.length} ${randomUUID()}`,
    });
    labels.push(body.id);
  } else if (step.do === "new feature") {
    features.push((await api.post<{ id: string }>("/v1/features", { name: "Feature" })).body.id);
  } else if (step.do === "unlabel" && labels.length > 0) {
    const [removed = ""] = labels.splice(step.label % labels.length, 1);
    await expectSuccess(api.delete(`/v1/labels/${removed}`));
    for (const each of cards.values()) each.labels.delete(removed);
  } else if (step.do === "unfeature" && features.length > 0) {
    const [removed = ""] = features.splice(step.feature % features.length, 1);
    await expectSuccess(api.delete(`/v1/features/${removed}`));
    for (const each of cards.values()) if (each.feature === removed) each.feature = null;
  }
  if (number === undefined || !card) return;
  if (step.do === "move") {
    await expectSuccess(api.move(number, stages[step.stage], step.index));
    removeFromColumn(number);
    columns.get(step.stage)?.splice(step.index, 0, number);
  } else if (step.do === "delete") {
    await expectSuccess(api.delete(`/v1/cards/${number}`));
    removeFromColumn(number);
    cards.delete(number);
  } else if (step.do === "label") {
    card.labels = new Set(step.labels.flatMap((at) => pick(labels, at) ?? []));
    await expectSuccess(api.patch(`/v1/cards/${number}`, { labelIds: [...card.labels] }));
  } else if (step.do === "feature") {
    card.feature = (step.feature === null ? undefined : pick(features, step.feature)) ?? null;
    await expectSuccess(api.patch(`/v1/cards/${number}`, { featureId: card.feature }));
  }
}

const expectedState = ({ columns, cards, labels, features }: Model) => {
  const done = columns.get("Done") ?? [];
  const inFeature = (id: string) =>
    [...cards].filter(([, { feature }]) => feature === id).map(([number]) => number);
  return {
    columns: Object.fromEntries(columns),
    positions: Object.fromEntries(
      [...columns.values()].flatMap((column) => column.map((number, at) => [number, at])),
    ),
    labels: Object.fromEntries(
      labels.map((id) => [id, [...cards.values()].filter((card) => card.labels.has(id)).length]),
    ),
    features: Object.fromEntries(
      features.map((id, position) => {
        const numbers = inFeature(id);
        const doneCount = numbers.filter((number) => done.includes(number)).length;
        return [id, { taskCount: numbers.length, doneCount, position }];
      }),
    ),
    projects: [cards.size],
  };
};

interface Counted {
  readonly id: string;
  readonly taskCount: number;
  readonly doneCount: number;
  readonly position: number;
}

async function stateFromApi({ api, stages }: TestBoard, numbers: readonly number[]) {
  const drafts = (await api.get<{ number: number }[]>("/v1/backlog")).body;
  const columns = await readColumns({ api });
  const numbersIn = (name: StageName): number[] =>
    (name === "Backlog"
      ? drafts
      : (columns.find(({ statusId }) => statusId === stages[name])?.tasks ?? [])
    ).map(({ number }) => number);
  const cards = await Promise.all(numbers.map((number) => api.readCard(number)));
  const counted = async (path: string): Promise<Counted[]> => (await api.get<Counted[]>(path)).body;
  return {
    columns: Object.fromEntries(STAGES.map((name) => [name, numbersIn(name)])),
    positions: Object.fromEntries(cards.map(({ number, position }) => [number, position])),
    labels: Object.fromEntries((await counted("/v1/labels")).map(({ id, taskCount }) => [id, taskCount])),
    features: Object.fromEntries(
      (await counted("/v1/features")).map(({ id, taskCount, doneCount, position }) => [
        id,
        { taskCount, doneCount, position },
      ]),
    ),
    projects: (await counted("/v1/projects")).map(({ taskCount }) => taskCount),
  };
}

describe("cards, labels and features", () => {
  // Contract: Labels and features: A label's `taskCount` counts its cards, without deleted ones
  // Contract: Labels and features: `doneCount` of a feature counts finished cards, `taskCount` all
  it("keep correct counts, positions and columns after random changes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 30 }), async (steps) => {
        const board = await world.board();
        const model: Model = {
          columns: new Map(STAGES.map((name) => [name, []])),
          cards: new Map(),
          labels: [],
          features: [],
        };
        for (const each of steps) await runStep(each, board, model);
        expect(await stateFromApi(board, [...model.cards.keys()])).toEqual(expectedState(model));
      }),
      { numRuns: 6 },
    );
  });
});
