import type { Flow } from "../../api/schema.d.ts";
import { targetName } from "../../text/rule.ts";

/**
 * Says that a merge into a later target may bring more than a card's own work. Nothing for a stage
 * that does not merge, or merges into the flow's first target.
 */
export function broughtAlong({ stages }: Pick<Flow, "stages">, stageId: string): readonly string[] {
  const targets = stages.flatMap(({ id, rule }) =>
    rule.type === "merge" ? [{ id, name: targetName(rule) }] : [],
  );
  const first = targets[0]?.name;
  const target = targets.find(({ id }) => id === stageId)?.name;
  if (first === undefined || target === undefined || target === first) return [];
  return [
    `A card's branch starts from ${first}. Its merge into ${target} also brings the work of other cards that ${first} contained then.`,
  ];
}
