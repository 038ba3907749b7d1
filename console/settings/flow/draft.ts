import type { Input } from "../../api/client.ts";
import type { Flow, Rule } from "../../api/schema.d.ts";

type Stage = Flow["stages"][number];
type Gates = NonNullable<Stage["gates"]>;

/** A stage while it is edited; a new one has no id. */
export interface DraftStage {
  /** The id, or a name for a stage that has none. */
  readonly key: string;
  readonly id: string | null;
  readonly name: string;
  readonly minRole: Stage["minRole"];
  readonly rule: Rule;
  readonly gates: Gates;
}

export type FlowSettings = Omit<Flow, "stages" | "verification"> & Flow["verification"];

/** A flow while it is edited. The first stage is the backlog, the last one is done. */
export interface FlowDraft {
  readonly settings: FlowSettings;
  readonly stages: readonly DraftStage[];
}

const NO_GATES: Gates = { wipLimit: null, humanOnly: false, secondPerson: false };

/** The same flow gives the same text as JSON, whatever response it comes from. */
export function draftOf({ stages, verification, ...flow }: Flow): FlowDraft {
  const { releases, branchPattern, mergeMethod, checks, staleAfterDays, agentSilenceHours } = flow;
  const { independentApproval, bypassRules, checksStartSeconds } = verification;
  return {
    settings: {
      releases,
      branchPattern,
      mergeMethod,
      checks,
      independentApproval,
      bypassRules,
      checksStartSeconds,
      staleAfterDays,
      agentSilenceHours,
    },
    stages: stages.map(({ id, name, minRole, rule: { type, into }, gates = NO_GATES }) => {
      const { wipLimit, humanOnly, secondPerson } = gates;
      const rule = { type, into };
      return { key: id, id, name, minRole, rule, gates: { wipLimit, humanOnly, secondPerson } };
    }),
  };
}

/** The body of `PUT /v1/projects/{projectId}/flow`. */
export function bodyOf({
  settings: { independentApproval, bypassRules, checksStartSeconds, ...settings },
  stages,
}: FlowDraft): NonNullable<Input<"PUT /v1/projects/{projectId}/flow">["body"]> {
  return {
    ...settings,
    verification: { independentApproval, bypassRules, checksStartSeconds },
    stages: stages.map(({ id, name, minRole, rule, gates }, at) => ({
      ...(id !== null && { id }),
      name,
      kind: kindAt(at, stages.length),
      minRole,
      rule,
      ...(at > 0 && { gates }),
    })),
  };
}

export const kindAt = (at: number, count: number): Stage["kind"] =>
  at === 0 ? "backlog" : at === count - 1 ? "done" : "stage";

export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A new stage before the last one, with the rule of the one before it. */
export function withNewStage(draft: FlowDraft, key: string): FlowDraft {
  const at = Math.max(draft.stages.length - 1, 1);
  const before = draft.stages[at - 1]?.rule;
  const rule: Rule = before === undefined || before.type === "merge" ? { type: "none", into: null } : before;
  const stage: DraftStage = { key, id: null, name: "", minRole: "member", rule, gates: NO_GATES };
  return { ...draft, stages: draft.stages.toSpliced(at, 0, stage) };
}

/** The draft with a stage at another place; the backlog stays first. */
export function withStageAt(draft: FlowDraft, key: string, to: number): FlowDraft {
  const from = draft.stages.findIndex((stage) => stage.key === key);
  const stage = draft.stages[from];
  const place = Math.min(Math.max(to, 1), draft.stages.length - 1);
  if (!stage || from === 0 || place === from) return draft;
  return { ...draft, stages: draft.stages.toSpliced(from, 1).toSpliced(place, 0, stage) };
}

export const withStage = (draft: FlowDraft, key: string, changes: Partial<DraftStage>): FlowDraft => ({
  ...draft,
  stages: draft.stages.map((stage) => (stage.key === key ? { ...stage, ...changes } : stage)),
});

export const withoutStage = (draft: FlowDraft, key: string): FlowDraft => ({
  ...draft,
  stages: draft.stages.filter((stage) => stage.key !== key),
});

/** The draft with a stage of `base` again that was removed from it. */
export function withStageOf(draft: FlowDraft, base: FlowDraft, key: string): FlowDraft {
  const at = base.stages.findIndex((stage) => stage.key === key);
  const stage = base.stages[at];
  if (!stage || draft.stages.some((each) => each.key === key)) return draft;
  const place = placeAfter(draft.stages, base.stages, at);
  return { ...draft, stages: draft.stages.toSpliced(place, 0, stage) };
}

/** The index in `stages` after the last stage that also precedes `others[at]`. */
export function placeAfter(stages: readonly DraftStage[], others: readonly DraftStage[], at: number): number {
  const before = others.slice(0, at).map(({ key }) => key);
  return stages.findLastIndex(({ key }) => before.includes(key)) + 1;
}

export const stageIn = ({ stages }: FlowDraft, key: string): DraftStage | undefined =>
  stages.find((stage) => stage.key === key);

/** The branches that a flow names as targets, each once. Without a name, the target is the default branch. */
export const targetsOf = ({ stages }: { readonly stages: readonly { readonly rule: Rule }[] }): string[] => [
  ...new Set(stages.flatMap(({ rule }) => (rule.type === "merge" && rule.into !== null ? [rule.into] : []))),
];

/** The keys of the stages of `draft` that `other` has, too. */
export const orderOf = (draft: FlowDraft, other: FlowDraft): string[] =>
  draft.stages.flatMap(({ key }) => (stageIn(other, key) ? [key] : []));
