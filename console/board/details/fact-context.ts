import type { BoardTask } from "../../api/schema.d.ts";
import { localDay } from "../../card-chip/card-facts.ts";
import type { BoardActions } from "../board-actions.ts";

/** What the facts of a card refer to. */
export const factContext = ({ stages, features }: BoardActions, { statusId }: BoardTask) => ({
  today: localDay(),
  isDone: stages.find(({ id }) => id === statusId)?.kind === "done",
  stageName: (id: string) => stages.find((stage) => stage.id === id)?.name,
  featureName: (id: string) => features.get(id),
});
