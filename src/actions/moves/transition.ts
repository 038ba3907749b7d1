import type { Stage } from "../../flow/flow.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import type { Project } from "../../store/cards/projects.ts";
import type { IntentKey } from "../../store/ops/intents.ts";

/** A card and the stage of its project's flow that it enters. */
export interface Transition {
  readonly card: CardHead;
  readonly project: Project;
  readonly stage: Stage;
}

/** The key of the intent to change one pull request. */
export const intentKey = (
  { repositoryId, prNumber }: { readonly repositoryId: string; readonly prNumber: number },
  kind: "mark_ready" | "merge",
): IntentKey => ({ repositoryId, kind, subject: String(prNumber) });
