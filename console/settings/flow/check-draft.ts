import { RULES } from "./words.ts";
import type { DraftStage } from "./draft.ts";

/** What the service refuses about a stage, in the words of the form. */
export interface StageFaults {
  readonly rule?: string;
  readonly wipLimit?: string;
}

const MAX_CARD_LIMIT = 10_000;

/** The faults of the stage at an index. */
export function faultsAt(stages: readonly DraftStage[], at: number): StageFaults {
  const [stage, before] = [stages[at], stages[at - 1]];
  const rule = stage && before && ruleFault(stage, before);
  const wipLimit = stage && limitFault(stage);
  return { ...(rule !== undefined && { rule }), ...(wipLimit !== undefined && { wipLimit }) };
}

/** All faults of a draft, in the order of its stages. */
export const faultsOf = (stages: readonly DraftStage[]): string[] =>
  stages.flatMap((_, at): string[] => Object.values(faultsAt(stages, at)));

/** What a stage does on GitHub includes what the stage before it does. */
function ruleFault(stage: DraftStage, before: DraftStage): string | undefined {
  const enough = RULES.slice(RULES.findIndex(([type]) => type === before.rule.type));
  if (enough.some(([type]) => type === stage.rule.type)) return undefined;
  const choices = new Intl.ListFormat("en", { type: "disjunction" }).format(
    enough.map(([, text]) => `“${text}”`),
  );
  const previous = before.name || "the stage before it";
  return `${nameOf(stage)} comes after ${previous}, so it must do at least what ${previous} does. Choose ${choices}.`;
}

function limitFault(stage: DraftStage): string | undefined {
  const { wipLimit } = stage.gates;
  if (wipLimit === null || (wipLimit >= 1 && wipLimit <= MAX_CARD_LIMIT)) return undefined;
  return `The card limit of ${nameOf(stage)} must be 1 to 10,000. Leave it empty for no limit.`;
}

const nameOf = ({ name }: DraftStage): string => name || "The new stage";
