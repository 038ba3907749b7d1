import { MAX_BRANCH_NAME_BYTES, branchNameFor, foldName, isBranchName } from "./names.ts";
import { isGated, ruleRequires, type Flow, type Rule, type Stage } from "./flow.ts";

export const MAX_STAGES = 30;
export const MAX_STAGE_NAME = 60;
export const MAX_BRANCH_PATTERN = 200;
export const MAX_WIP_LIMIT = 10_000;

/** A proposed stage; one without an id is new. */
export interface StageDraft extends Omit<Stage, "id"> {
  readonly id?: string | undefined;
}

export interface FlowDraft extends Omit<Flow, "stages" | "verification"> {
  /** Absent to keep that of the flow. */
  readonly verification?: Flow["verification"] | undefined;
  readonly stages: readonly StageDraft[];
}

export interface FlowFault {
  /** Such as `stages.2.rule`. */
  readonly path: string;
  readonly message: string;
}

/** All faults of a flow, in the order of its stages. */
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
        gates: gatesFault(stage),
        "gates.wipLimit": limitFault(stage),
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
  const message = `A flow has 2 to ${MAX_STAGES} stages, with the backlog first and a done stage last; this one has ${length}.`;
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
  return first === at ? null : `has the name of stage ${first + 1}. Choose another; case is ignored.`;
}

function kindFault(stages: readonly StageDraft[], at: number): string | null {
  const isBacklog = stages[at]?.kind === "backlog";
  const isDone = stages[at]?.kind === "done";
  if (at === 0) return isBacklog ? null : "comes first, so its kind must be backlog.";
  if (isBacklog) return "is a backlog, but only the first stage can be one.";
  if (at === stages.length - 1) return isDone ? null : "comes last, so its kind must be done.";
  return isDone ? "is done, but only the last stage can be." : null;
}

function ruleFault(stages: readonly StageDraft[], at: number): string | null {
  const stage = stages[at];
  const before = stages[at - 1];
  if (stage?.kind === "backlog" && stage.rule.type !== "none") {
    return `requires ${stage.rule.type}, but drafts have no branch: a backlog's rule is none.`;
  }
  if (!stage || !before || ruleRequires(stage.rule, before.rule.type)) return null;
  return `requires ${stage.rule.type}, less than ${before.rule.type} of the stage before it (${before.name}). Each stage must require at least as much as the one before.`;
}

function intoFault(stages: readonly StageDraft[], at: number): string | null {
  const rule = stages[at]?.rule;
  if (!rule) return null;
  if (rule.type !== "merge") {
    return rule.into === null ? null : `does not merge (its rule is ${rule.type}), so into must be null.`;
  }
  if (rule.into !== null && !isBranchName(rule.into)) {
    return `merges into ${JSON.stringify(rule.into)}, which is not a valid branch name.`;
  }
  const first = stages.findIndex((stage) => isSameTarget(stage.rule, rule));
  return first === at ? null : `merges into ${targetName(rule)}, as stage ${first + 1} does. Name another.`;
}

const gatesFault = ({ kind, gates }: StageDraft): string | null =>
  kind === "backlog" && gates && isGated(gates)
    ? "is the backlog, which every new card enters, so it has no gates."
    : null;

function limitFault({ gates }: StageDraft): string | null {
  const limit = gates?.wipLimit ?? 1;
  return limit >= 1 && limit <= MAX_WIP_LIMIT
    ? null
    : `has a wipLimit of ${limit}: it must be 1 to ${MAX_WIP_LIMIT}, or null for no limit.`;
}

/**
 * The stages with their gates: a stage whose draft names none keeps those it has now. The backlog
 * has none.
 */
export const withGates = (stages: readonly StageDraft[], current: Flow): StageDraft[] =>
  stages.map(({ gates: named, ...stage }) => {
    const gates = named ?? current.stages.find(({ id }) => id === stage.id)?.gates;
    return gates && isGated(gates) && stage.kind !== "backlog" ? { ...stage, gates } : stage;
  });

/** A repository of the flow's project. */
export interface RepositoryTrunk {
  readonly fullName: string;
  readonly defaultBranch: string;
}

/**
 * Merge stages with the same target because one names the default branch of a repository and
 * another has null. Accepts such a pair if `current`, the flow until now, has it: somebody changed
 * the repository's default branch since.
 */
export function sharedTargetFaults(
  { stages }: FlowDraft,
  trunks: readonly RepositoryTrunk[],
  current: FlowDraft,
): FlowFault[] {
  const had = new Set(sharedTargets(current.stages, trunks).map(({ trunk }) => trunk.defaultBranch));
  return sharedTargets(stages, trunks)
    .filter(({ trunk }) => !had.has(trunk.defaultBranch))
    .map(({ first, second, trunk: { fullName, defaultBranch } }) => ({
      path: `stages.${second}.rule.into`,
      message: `Stage ${second + 1} (${stages[second]?.name}) merges into the same branch as stage ${first + 1} (${stages[first]?.name}): ${defaultBranch} is the default branch of ${fullName}. Name another branch, or let only one of them merge.`,
    }));
}

/** The pairs of stages with the same target, each in order and with one repository concerned. */
function sharedTargets(stages: readonly StageDraft[], trunks: readonly RepositoryTrunk[]) {
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

/** A squashed or rebased commit conflicts with the original at the next merge. */
function methodFaults({ mergeMethod, stages }: FlowDraft): FlowFault[] {
  const merges = stages.flatMap((stage, at) => (stage.rule.type === "merge" ? [{ stage, at }] : []));
  const second = merges[1];
  if (mergeMethod === "merge" || !second) return [];
  const message = `Stage ${second.at + 1} (${second.stage.name}) merges a second time, which needs mergeMethod merge: commits that ${mergeMethod} rewrote conflict with the originals.`;
  return [{ path: "mergeMethod", message }];
}

/**
 * Titles to try a pattern with: without a slug, the parts of `lock` (no name may end in `.lock`), and
 * the longest slug.
 */
const TITLES = ["", "a", "l", "lo", "loc", "lock", "o", "oc", "ock", "c", "ck", "k", "x".repeat(50)];
/** The lowest and highest card number, and the lowest and highest attempt to find a free name. */
const NUMBERS = [1, 2_147_483_647];
const ATTEMPTS = [1, 20];

function patternFault(pattern: string): string | null {
  if (pattern.length > MAX_BRANCH_PATTERN) {
    return `A branch pattern has at most ${MAX_BRANCH_PATTERN} characters.`;
  }
  if (!pattern.includes("{number}")) {
    return "A branch pattern must contain {number}, so that cards with the same title get different branches.";
  }
  if (/[{}]/.test(pattern.replaceAll("{number}", "").replaceAll("{slug}", ""))) {
    return "A branch pattern has no placeholders other than {number} and {slug}.";
  }
  const names = TITLES.flatMap((title) =>
    NUMBERS.flatMap((number) => ATTEMPTS.map((attempt) => branchNameFor(pattern, number, title, attempt))),
  );
  const wrong = names.find((name) => !isBranchName(name));
  if (wrong === undefined) return null;
  return `This branch pattern can give ${JSON.stringify(wrong)}, which is not a valid branch name (git check-ref-format, at most ${MAX_BRANCH_NAME_BYTES} bytes).`;
}
