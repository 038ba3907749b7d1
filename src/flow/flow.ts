import type { Role } from "./roles.ts";

/** What standing in a stage means for the card's branch in every linked repository; each includes the ones before it. */
export const RULE_TYPES = ["none", "branch", "draft_pull_request", "pull_request", "merge"] as const;
export type RuleType = (typeof RULE_TYPES)[number];

export interface Rule {
  readonly type: RuleType;
  /** Of a merge: the branch merged into, null for the repository's default branch. */
  readonly into: string | null;
}

export interface Stage {
  readonly id: string;
  readonly name: string;
  /** `backlog` is the first and holds the drafts, `done` the last. */
  readonly kind: "backlog" | "stage" | "done";
  readonly minRole: Role;
  readonly rule: Rule;
}

export interface Flow {
  readonly releases: boolean;
  readonly branchPattern: string;
  readonly mergeMethod: "merge" | "squash" | "rebase";
  readonly checks: "required" | "ignored";
  readonly staleAfterDays: number;
  readonly agentSilenceHours: number;
  /** In flow order, the backlog first. */
  readonly stages: readonly Stage[];
}

/** The flow a board's first project starts with; its stages get their ids when stored. */
export const DEFAULT_FLOW: Omit<Flow, "stages"> & { readonly stages: readonly Omit<Stage, "id">[] } = {
  releases: true,
  branchPattern: "card/{number}-{slug}",
  mergeMethod: "merge",
  checks: "required",
  staleAfterDays: 14,
  agentSilenceHours: 24,
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

/** The stage where drafts stand. Every flow has one. */
export function backlogOf(flow: Flow): Stage {
  const stage = flow.stages.find((candidate) => candidate.kind === "backlog");
  if (!stage) throw new Error("a flow without a backlog stage");
  return stage;
}

/** The stage with this id, or undefined where the flow has none. */
export const stageOf = (flow: Flow, stageId: string): Stage | undefined =>
  flow.stages.find((stage) => stage.id === stageId);

/** Whether a stage's rule asks for at least this much. */
export const ruleAsks = (rule: Rule, type: RuleType): boolean =>
  RULE_TYPES.indexOf(rule.type) >= RULE_TYPES.indexOf(type);

/** The merge stages that come after a stage, in flow order: as long as there is one, a card's branch is needed. */
export function mergesAfter(flow: Flow, stageId: string): Stage[] {
  const at = flow.stages.findIndex(({ id }) => id === stageId);
  return flow.stages.slice(at + 1).filter(({ rule }) => rule.type === "merge");
}

/** The targets of all merge stages but the last: what a hotfix that landed at the far end still has to come to. */
export const earlierTargetsOf = ({ stages }: Flow): (string | null)[] =>
  stages
    .filter(({ rule }) => rule.type === "merge")
    .slice(0, -1)
    .map(({ rule }) => rule.into);

/**
 * The branch a card's work aims at: the target of the flow's first merge stage, of the last one for a hotfix. Null is the
 * repository's default branch, which is also what a flow without a merge stage aims at.
 */
export function targetOf(flow: Flow, isHotfix: boolean): string | null {
  const merges = flow.stages.filter((stage) => stage.rule.type === "merge");
  return (isHotfix ? merges.at(-1) : merges[0])?.rule.into ?? null;
}
