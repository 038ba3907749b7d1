import type { StageCards } from "../../api/schema.d.ts";
import { cardsOf, counted } from "../../text/counted.ts";
import { ruleWords } from "../../text/rule.ts";
import { faultsAt, type StageFaults } from "./check-draft.ts";
import {
  isSame,
  orderOf,
  stageIn,
  targetsOf,
  type DraftStage,
  type FlowDraft,
  type FlowSettings,
} from "./draft.ts";
import { newSkips } from "./skips.ts";
import { isRestricted, whoMayEnter } from "./words.ts";

/** Some cards: how many, and the numbers of the first ones. */
export type Counted = StageCards["cards"];

/** What a change of the flow does, as a sentence. */
export interface Effect {
  /** `blocks`: the service refuses the change, because of cards in the stage or an invalid value. */
  readonly kind: "blocks" | "warns" | "tells";
  readonly text: string;
  /** The cards that it concerns. */
  readonly cards: Counted;
  /** The stage that it removes. */
  readonly removes?: string;
}

/** The cards that a change concerns, by the ids of stages. */
export interface StageCounts {
  /** In the stage. */
  readonly cardsIn: (stageId: string) => Counted;
  /** With a move into the stage that waits for checks and reviews. */
  readonly armedInto: (stageId: string) => Counted;
}

export const NONE: Counted = { count: 0, numbers: [] };
export const NOBODY: StageCounts = { cardsIn: () => NONE, armedInto: () => NONE };

/** What changes from one flow to another, and what that does to the cards. */
export function describeChanges(before: FlowDraft, after: FlowDraft, standing: StageCounts): Effect[] {
  const removed = before.stages.filter(({ key }) => !stageIn(after, key));
  return [
    ...removed.flatMap((stage) => removal(stage, standing)),
    ...after.stages.flatMap((stage, at) => {
      const was = stageIn(before, stage.key);
      const previous = after.stages[at - 1];
      const faults = faultsAt(after.stages, at);
      return [
        ...Object.values(faults).map(block),
        ...(was ? changes(was, stage, faults, standing) : addition(stage, previous, faults)),
      ];
    }),
    ...order(before, after, standing),
    ...newSkips(before.stages, after.stages).map(({ text }) => warn(text)),
    ...settings(before.settings, after.settings),
  ];
}

/** A branch that a repository does not have, as GitHub said. */
export interface MissingBranch {
  readonly branchName: string;
  readonly repositoryId: string;
  readonly fullName: string;
}

/** How many repositories a warning names. */
const MAX_NAMES = 3;

/** Warns about the targets of a flow that repositories lack. Other branches are ignored. */
export const describeMissing = (flow: FlowDraft, missing: readonly MissingBranch[]): Effect[] =>
  targetsOf(flow).flatMap((target) => {
    const places = missing.filter(({ branchName }) => branchName === target);
    return places.length === 0
      ? []
      : [
          warn(
            `The target branch ${target} does not exist in ${listOf(places)}. Moves that need it are refused until it is created.`,
          ),
        ];
  });

/** The names of the first repositories, and how many more there are. */
function listOf(places: readonly MissingBranch[]): string {
  const names = places.slice(0, MAX_NAMES).map(({ fullName }) => fullName);
  const more = places.length - names.length;
  return new Intl.ListFormat("en").format(more > 0 ? [...names, `${more} more`] : names);
}

const tell = (text: string, cards = NONE): Effect => ({ kind: "tells", text, cards });
const warn = (text: string, cards = NONE): Effect => ({ kind: "warns", text, cards });
const block = (text: string): Effect => ({ kind: "blocks", text, cards: NONE });

function removal({ key, name }: DraftStage, { cardsIn, armedInto }: StageCounts): Effect[] {
  const cards = cardsIn(key);
  const removed: Effect =
    cards.count > 0
      ? {
          kind: "blocks",
          text: `${name} cannot be removed yet: it holds ${cardsOf(cards.count)}. Move ${cards.count === 1 ? "it" : "them"} to another stage first.`,
          cards,
          removes: key,
        }
      : { ...tell(`${name} is removed. It holds no cards.`), removes: key };
  return [removed, ...disarmed(name, armedInto(key))];
}

const disarmed = (name: string, cards: Counted): Effect[] =>
  cards.count === 0
    ? []
    : [
        warn(
          `${cards.count === 1 ? "A move" : `${cards.count} moves`} into ${name} that ${cards.count === 1 ? "waits" : "wait"} for checks and reviews ${cards.count === 1 ? "is" : "are"} cancelled.`,
          cards,
        ),
      ];

const addition = (stage: DraftStage, previous: DraftStage | undefined, { rule }: StageFaults): Effect[] => [
  tell(
    `${stage.name || "The new stage"} is added${previous ? ` after ${previous.name}` : ""}.${rule === undefined ? ` Entering it: ${ruleWords(stage.rule)}.` : ""}`,
  ),
  ...(isRestricted(stage) ? [tell(whoMayEnter(stage))] : []),
];

/** A value with a fault is not described: the fault is. */
function changes(
  was: DraftStage,
  is: DraftStage,
  faults: StageFaults,
  { cardsIn, armedInto }: StageCounts,
): Effect[] {
  const cards = cardsIn(is.key);
  const effects: Effect[] = [];
  if (was.name !== is.name) effects.push(tell(`${was.name} is renamed to ${is.name || "(no name)"}.`));
  if (!isSame(was.rule, is.rule) && faults.rule === undefined) {
    const stay =
      cards.count > 0
        ? ` The ${cardsOf(cards.count)} in it ${cards.count === 1 ? "stays" : "stay"} as ${cards.count === 1 ? "it is" : "they are"}.`
        : "";
    effects.push(
      tell(`Entering ${is.name}: ${ruleWords(is.rule)}. Until now: ${ruleWords(was.rule)}.${stay}`, cards),
      ...disarmed(is.name, armedInto(is.key)),
    );
  }
  return [...effects, ...entry(was, is, faults, cards)];
}

/** Who may enter, and whether there is room. */
function entry(was: DraftStage, is: DraftStage, faults: StageFaults, cards: Counted): Effect[] {
  const [before, after] = [was.gates, is.gates];
  const whoChanged =
    was.minRole !== is.minRole ||
    before.humanOnly !== after.humanOnly ||
    before.secondPerson !== after.secondPerson;
  const limit = after.wipLimit;
  const effects = whoChanged ? [tell(whoMayEnter(is))] : [];
  if (before.wipLimit === limit || faults.wipLimit !== undefined) return effects;
  if (limit === null) return [...effects, tell(`${is.name} has no limit of cards any more.`)];
  const over = cards.count - limit;
  if (over < 0)
    return [...effects, tell(`${is.name} has room for ${cardsOf(limit)} and holds ${cards.count}.`, cards)];
  const leave = over + 1;
  return [
    ...effects,
    warn(
      `${is.name} has room for ${cardsOf(limit)} and holds ${cards.count}: no card may enter until ${leave === 1 ? "one leaves" : `${leave} leave`}. The cards in it stay.`,
      cards,
    ),
  ];
}

function order(before: FlowDraft, after: FlowDraft, { cardsIn }: StageCounts): Effect[] {
  const effects: Effect[] = [];
  if (!isSame(orderOf(before, after), orderOf(after, before)))
    effects.push(tell(`The new order is ${after.stages.map(({ name }) => name).join(", ")}.`));
  const [done, wasDone] = [after.stages.at(-1), before.stages.at(-1)];
  if (done && wasDone && done.key !== wasDone.key) {
    const cards = cardsIn(done.key);
    const who = cards.count > 0 ? `the ${cardsOf(cards.count)}` : "cards";
    effects.push(tell(`${done.name} is the last stage now: ${who} in it count as done.`, cards));
  }
  return effects;
}

const SETTINGS: { readonly [Name in keyof FlowSettings]: (value: FlowSettings[Name]) => string } = {
  branchPattern: (pattern) => `New branches are named ${pattern}; branches that exist keep their names.`,
  mergeMethod: (method) => `Pull requests are merged by the method ${method}.`,
  checks: (checks) =>
    checks === "required"
      ? "Failing or pending checks refuse a merge."
      : "Checks do not refuse a merge any more.",
  independentApproval: (isOn) =>
    isOn
      ? "A required approval does not count if its author worked on the pull request."
      : "A required approval counts whoever worked on the pull request.",
  bypassRules: (isOn) =>
    isOn
      ? "Rules that the App may bypass on GitHub do not refuse a merge any more."
      : "Required checks and reviews refuse a merge, even if the App may bypass them.",
  checksStartSeconds: (seconds) =>
    seconds === 0
      ? "A merge does not wait for checks to start."
      : `A merge waits up to ${counted(seconds, "second")} after a push for checks to start.`,
  releases: (isOn) => (isOn ? "The project has releases." : "The project has no releases any more."),
  staleAfterDays: (days) => `A card that waits longer than ${counted(days, "day")} appears in the inbox.`,
  agentSilenceHours: (hours) => `An agent that is silent for ${counted(hours, "hour")} appears in the inbox.`,
};

const settings = (before: FlowSettings, after: FlowSettings): Effect[] =>
  (Object.keys(SETTINGS) as (keyof FlowSettings)[])
    .filter((name) => before[name] !== after[name])
    .map((name) => tell((SETTINGS[name] as (value: unknown) => string)(after[name])));
