import { MAX_BRANCH_NAME_BYTES, branchNameFor, foldName, isBranchName } from "./names.ts";
import { ruleAsks, type Flow, type Rule, type Stage } from "./flow.ts";

export const MAX_STAGES = 30;
export const MAX_STAGE_NAME = 60;
export const MAX_BRANCH_PATTERN = 200;

/** A stage as it is proposed: one without an id is new. */
export interface StageDraft extends Omit<Stage, "id"> {
  readonly id?: string | undefined;
}

export interface FlowDraft extends Omit<Flow, "stages"> {
  readonly stages: readonly StageDraft[];
}

/** Something wrong with a flow: where (`stages.2.rule`), and what to do about it. */
export interface FlowFault {
  readonly path: string;
  readonly message: string;
}

/** All that is wrong with a flow, in the order of its stages; nothing when it is valid. */
export function validateFlow(flow: FlowDraft): FlowFault[] {
  const pattern = patternFault(flow.branchPattern);
  return [
    ...(pattern === null ? [] : [{ path: "branchPattern", message: pattern }]),
    ...countFaults(flow.stages),
    ...flow.stages.flatMap((stage, at) =>
      Object.entries({
        id: idFault(flow.stages, at),
        name: nameFault(flow.stages, at),
        kind: kindFault(flow.stages, at),
        rule: ruleFault(flow.stages, at),
        "rule.into": intoFault(flow.stages, at),
      }).flatMap(([field, fault]) =>
        fault === null
          ? []
          : [{ path: `stages.${at}.${field}`, message: `Stage ${at + 1} (${stage.name}) ${fault}` }],
      ),
    ),
    ...methodFaults(flow),
  ];
}

function countFaults({ length }: readonly StageDraft[]): FlowFault[] {
  if (length >= 2 && length <= MAX_STAGES) return [];
  const message = `A flow has 2 to ${MAX_STAGES} stages, the backlog first and a done stage last; this one has ${length}.`;
  return [{ path: "stages", message }];
}

function idFault(stages: readonly StageDraft[], at: number): string | null {
  const id = stages[at]?.id;
  const first = id === undefined ? at : stages.findIndex((stage) => stage.id === id);
  return first === at ? null : `has the id of stage ${first + 1}. Leave the id out to make it a new stage.`;
}

function nameFault(stages: readonly StageDraft[], at: number): string | null {
  const name = stages[at]?.name ?? "";
  if (name.trim() === "" || Array.from(name).length > MAX_STAGE_NAME) {
    return `needs a name of 1 to ${MAX_STAGE_NAME} characters.`;
  }
  const first = stages.findIndex((stage) => foldName(stage.name) === foldName(name));
  return first === at ? null : `has the name of stage ${first + 1}; case makes no difference.`;
}

function kindFault(stages: readonly StageDraft[], at: number): string | null {
  const isBacklog = stages[at]?.kind === "backlog";
  const isDone = stages[at]?.kind === "done";
  if (at === 0) return isBacklog ? null : "comes first, so its kind must be backlog.";
  if (isBacklog) return "is a backlog, but only the first stage is.";
  if (at === stages.length - 1) return isDone ? null : "comes last, so its kind must be done.";
  return isDone ? "is done, but only the last stage is." : null;
}

function ruleFault(stages: readonly StageDraft[], at: number): string | null {
  const stage = stages[at];
  const before = stages[at - 1];
  if (stage?.kind === "backlog" && stage.rule.type !== "none") {
    return `asks for ${stage.rule.type}, but drafts have no Git: a backlog's rule is none.`;
  }
  if (!stage || !before || ruleAsks(stage.rule, before.rule.type)) return null;
  return `asks for ${stage.rule.type}, less than ${before.rule.type} of the stage before it (${before.name}). Rules never go backwards along a flow.`;
}

function intoFault(stages: readonly StageDraft[], at: number): string | null {
  const rule = stages[at]?.rule;
  if (!rule) return null;
  if (rule.type !== "merge") {
    return rule.into === null ? null : `merges nothing (its rule is ${rule.type}), so it takes no into.`;
  }
  if (rule.into !== null && !isBranchName(rule.into)) {
    return `merges into ${JSON.stringify(rule.into)}, which no branch can be named.`;
  }
  const first = stages.findIndex((stage) => isSameTarget(stage.rule, rule));
  return first === at ? null : `merges into ${targetName(rule)}, as stage ${first + 1} does already.`;
}

/** A repository of the flow's project, as far as it says where the default branch is. */
export interface Trunk {
  readonly fullName: string;
  readonly defaultBranch: string;
}

/**
 * Merge stages that come to one branch in spite of different targets, because one names what another has as the default branch of a repository.
 * A branch that `current`, the flow until now, has twice already is let be: somebody gave the repository that default branch since.
 */
export function sharedTargetFaults(
  { stages }: FlowDraft,
  trunks: readonly Trunk[],
  current: FlowDraft,
): FlowFault[] {
  const had = new Set(sharedTargets(current.stages, trunks).map(({ trunk }) => trunk.defaultBranch));
  return sharedTargets(stages, trunks)
    .filter(({ trunk }) => !had.has(trunk.defaultBranch))
    .map(({ first, second, trunk: { fullName, defaultBranch } }) => ({
      path: `stages.${second}.rule.into`,
      message: `Stage ${second + 1} (${stages[second]?.name}) merges into the branch that stage ${first + 1} (${stages[first]?.name}) merges into already: ${defaultBranch} is the default branch of ${fullName}. Name another branch, or let only one of them merge.`,
    }));
}

/** For each branch that two stages come to: the stages in their order, and one repository where it is so. */
function sharedTargets(stages: readonly StageDraft[], trunks: readonly Trunk[]) {
  const ofDefault = stages.findIndex(({ rule }) => rule.type === "merge" && rule.into === null);
  if (ofDefault === -1) return [];
  return stages.flatMap(({ rule }, named) => {
    const trunk = trunks.find(({ defaultBranch }) => rule.type === "merge" && rule.into === defaultBranch);
    if (!trunk) return [];
    return [{ first: Math.min(named, ofDefault), second: Math.max(named, ofDefault), trunk }];
  });
}

const isSameTarget = (a: Rule, b: Rule): boolean =>
  a.type === "merge" && b.type === "merge" && a.into === b.into;

const targetName = ({ into }: Rule): string => into ?? "the default branch";

/** A squashed or rebased commit conflicts with itself further on. */
function methodFaults({ mergeMethod, stages }: FlowDraft): FlowFault[] {
  const merges = stages.flatMap((stage, at) => (stage.rule.type === "merge" ? [{ stage, at }] : []));
  const second = merges[1];
  if (mergeMethod === "merge" || !second) return [];
  const message = `Stage ${second.at + 1} (${second.stage.name}) merges a second time, which needs the mergeMethod merge: what ${mergeMethod} has rewritten conflicts with itself further on.`;
  return [{ path: "mergeMethod", message }];
}

/** Titles that try a pattern: none of a slug, all that could make up `lock`, and the longest. */
const TITLES = ["", "a", "l", "lo", "loc", "lock", "o", "oc", "ock", "c", "ck", "k", "x".repeat(50)];
/** Of card numbers, and of how often a name may be taken: the least and the most. */
const NUMBERS = [1, 2_147_483_647];
const ATTEMPTS = [1, 20];

function patternFault(pattern: string): string | null {
  if (pattern.length > MAX_BRANCH_PATTERN) {
    return `A branch pattern has at most ${MAX_BRANCH_PATTERN} characters.`;
  }
  if (!pattern.includes("{number}")) {
    return "A branch pattern contains {number}, so that cards of one title have branches of their own.";
  }
  if (/[{}]/.test(pattern.replaceAll("{number}", "").replaceAll("{slug}", ""))) {
    return "A branch pattern knows no placeholders but {number} and {slug}.";
  }
  const names = TITLES.flatMap((title) =>
    NUMBERS.flatMap((number) => ATTEMPTS.map((attempt) => branchNameFor(pattern, number, title, attempt))),
  );
  const wrong = names.find((name) => !isBranchName(name));
  if (wrong === undefined) return null;
  return `This branch pattern can give ${JSON.stringify(wrong)}, which no branch can be named (git check-ref-format, at most ${MAX_BRANCH_NAME_BYTES} bytes).`;
}
