import { stageIn, withStage, type DraftStage, type FlowDraft } from "./draft.ts";

/** A condition on who moves a card into a stage. */
interface Requirement {
  /** Whom the stage requires. */
  readonly whom: string;
  readonly isOn: (stage: DraftStage) => boolean;
  readonly on: (stage: DraftStage) => Partial<DraftStage>;
}

const REQUIREMENTS: readonly Requirement[] = [
  {
    whom: "a maintainer",
    isOn: ({ minRole }) => minRole === "maintainer",
    on: () => ({ minRole: "maintainer" }),
  },
  {
    whom: "a person",
    isOn: ({ gates }) => gates.humanOnly,
    on: ({ gates }) => ({ gates: { ...gates, humanOnly: true } }),
  },
  {
    whom: "a second person",
    isOn: ({ gates }) => gates.secondPerson,
    on: ({ gates }) => ({ gates: { ...gates, secondPerson: true } }),
  },
];

/** A requirement that a card avoids by a move past its stage. */
export interface Skip {
  readonly stage: DraftStage;
  readonly whom: string;
  /** The later stages that do not have the requirement. */
  readonly later: readonly DraftStage[];
  readonly text: string;
  /** The draft in which they have it. */
  readonly close: (draft: FlowDraft) => FlowDraft;
}

/** The requirements of the stage at an index that later stages lack. */
export const skipsAt = (stages: readonly DraftStage[], at: number): Skip[] =>
  REQUIREMENTS.flatMap((requirement) => {
    const stage = stages[at];
    const later = stages.slice(at + 1).filter((each) => !requirement.isOn(each));
    if (!stage || !requirement.isOn(stage) || later.length === 0) return [];
    const { whom } = requirement;
    return [{ stage, whom, later, text: textOf(stage, later, whom), close: closeWith(requirement, later) }];
  });

/** The skips that a change of the flow adds. */
export function newSkips(before: readonly DraftStage[], after: readonly DraftStage[]): Skip[] {
  const known = new Set(skipsOf(before).map(idOf));
  return skipsOf(after).filter((skip) => !known.has(idOf(skip)));
}

const skipsOf = (stages: readonly DraftStage[]): Skip[] => stages.flatMap((_, at) => skipsAt(stages, at));

/** The stages that lack the requirement: one by its name, several together. */
export const laterNames = ({ later }: Skip): string =>
  (later.length === 1 && later[0]?.name) || "all later stages";

const idOf = ({ stage, whom, later }: Skip): string =>
  JSON.stringify([stage.key, whom, later.map(({ key }) => key)]);

const closeWith =
  ({ on }: Requirement, later: readonly DraftStage[]) =>
  (draft: FlowDraft): FlowDraft =>
    later.reduce((next, { key }) => {
      const stage = stageIn(next, key);
      return stage ? withStage(next, key, on(stage)) : next;
    }, draft);

function textOf(stage: DraftStage, later: readonly DraftStage[], whom: string): string {
  const names = later.map(({ name }) => name || "the new stage");
  const verb = later.length === 1 ? "does" : "do";
  return `Cards can skip ${stage.name || "this stage"}: ${new Intl.ListFormat("en").format(names)} ${verb} not require ${whom}.`;
}
