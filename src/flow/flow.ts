import type { Role } from "./roles.ts";

/** What a stage requires in every linked repository. Each type includes the ones before it. */
export const RULE_TYPES = ["none", "branch", "draft_pull_request", "pull_request", "merge"] as const;
export type RuleType = (typeof RULE_TYPES)[number];

export interface Rule {
  readonly type: RuleType;
  /** The target of a merge; null for the repository's default branch. */
  readonly into: string | null;
}

/** Conditions for entering a stage besides its rule. */
export interface Gates {
  /** The maximum number of cards in the stage, or null. */
  readonly wipLimit: number | null;
  /** API keys may not move cards into the stage. */
  readonly humanOnly: boolean;
  /** The mover may not have pushed or written the card's commits. */
  readonly secondPerson: boolean;
}

export interface Stage {
  readonly id: string;
  readonly name: string;
  /** `backlog` is the first stage and holds the drafts, `done` is the last. */
  readonly kind: "backlog" | "stage" | "done";
  readonly minRole: Role;
  readonly rule: Rule;
  /** Absent if no gate is set. */
  readonly gates?: Gates | undefined;
}

/** What a merge has to prove besides what GitHub demands. */
export interface Verification {
  /** Required approvals count only if their author did not work on the head. */
  readonly independentApproval: boolean;
  /** GitHub alone decides about rules that the App may bypass. */
  readonly bypassRules: boolean;
  /** How long checks may take to start after a push, if earlier commits had checks. */
  readonly checksStartSeconds: number;
}

export const DEFAULT_VERIFICATION: Verification = {
  independentApproval: true,
  bypassRules: false,
  checksStartSeconds: 60,
};

export interface Flow {
  readonly releases: boolean;
  readonly branchPattern: string;
  readonly mergeMethod: "merge" | "squash" | "rebase";
  readonly checks: "required" | "ignored";
  readonly staleAfterDays: number;
  readonly agentSilenceHours: number;
  readonly verification: Verification;
  readonly stages: readonly Stage[];
}

/** The flow of a board's first project. Its stages get ids when they are stored. */
export const DEFAULT_FLOW: Omit<Flow, "stages"> & { readonly stages: readonly Omit<Stage, "id">[] } = {
  releases: true,
  branchPattern: "card/{number}-{slug}",
  mergeMethod: "merge",
  checks: "required",
  staleAfterDays: 14,
  agentSilenceHours: 24,
  verification: DEFAULT_VERIFICATION,
  stages: [
    { name: "Backlog", kind: "backlog", minRole: "member", rule: { type: "none", into: null } },
    { name: "To do", kind: "stage", minRole: "member", rule: { type: "none", into: null } },
    {
      name: "In progress",
      kind: "stage",
      minRole: "member",
      rule: { type: "draft_pull_request", into: null },
    },
    { name: "In review", kind: "stage", minRole: "member", rule: { type: "pull_request", into: null } },
    { name: "Done", kind: "done", minRole: "member", rule: { type: "merge", into: null } },
  ],
};

export function backlogOf(flow: Flow): Stage {
  const stage = flow.stages.find((candidate) => candidate.kind === "backlog");
  if (!stage) throw new Error("the flow has no backlog stage");
  return stage;
}

export const isGated = ({ wipLimit, humanOnly, secondPerson }: Gates): boolean =>
  wipLimit !== null || humanOnly || secondPerson;

export const stageOf = (flow: Flow, stageId: string): Stage | undefined =>
  flow.stages.find((stage) => stage.id === stageId);

/** Whether a rule requires at least what `type` requires. */
export const ruleRequires = (rule: Rule, type: RuleType): boolean =>
  RULE_TYPES.indexOf(rule.type) >= RULE_TYPES.indexOf(type);

/** The merge stages after a stage. While there is one, the card still needs its branch. */
export function mergesAfter(flow: Flow, stageId: string): Stage[] {
  const at = flow.stages.findIndex(({ id }) => id === stageId);
  return flow.stages.slice(at + 1).filter(({ rule }) => rule.type === "merge");
}

/** The targets of all merge stages but the last: a hotfix that landed still has to reach these. */
export const earlierTargetsOf = ({ stages }: Flow): (string | null)[] =>
  stages
    .filter(({ rule }) => rule.type === "merge")
    .slice(0, -1)
    .map(({ rule }) => rule.into);

/**
 * The target of a card's branch: that of the first merge stage, or of the last one for a hotfix.
 * Null is the repository's default branch, also for a flow without a merge stage.
 */
export function targetOf(flow: Flow, isHotfix: boolean): string | null {
  const merges = flow.stages.filter((stage) => stage.rule.type === "merge");
  return (isHotfix ? merges.at(-1) : merges[0])?.rule.into ?? null;
}
