import type { Flow } from "../../api/schema.d.ts";
import { targetName } from "../../text/rule.ts";

type Stage = Flow["stages"][number];

/** Says into which branches a move does not merge, because it skips the stages that do. */
export function skippedMerges(stages: readonly Stage[], fromId: string, toId: string): readonly string[] {
  const from = stages.findIndex(({ id }) => id === fromId);
  const to = stages.findIndex(({ id }) => id === toId);
  const target = stages[to]?.rule;
  return stages.slice(from + 1, Math.max(to, 0)).flatMap(({ name, rule }) => {
    if (rule.type !== "merge" || (target?.type === "merge" && target.into === rule.into)) return [];
    return `The move skips ${name}, so it does not merge into ${targetName(rule)}.`;
  });
}
