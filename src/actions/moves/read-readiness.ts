import type { Stage } from "../../flow/flow.ts";
import {
  workByRepository,
  judgeReadiness,
  type WorkByRepository,
  type Readiness,
} from "../../flow/readiness.ts";
import { readHeadAges } from "../../store/cards/armed-moves.ts";
import type { Db } from "../../store/db/connect.ts";
import type { Inspection } from "./inspect-card.ts";

/** Whether an inspected card is ready for a stage. `armedWith` is null unless its move is armed. */
export async function readReadiness(
  db: Db,
  { card, stage }: { readonly card: { readonly id: string }; readonly stage: Stage },
  { plan, repositories }: Inspection,
  armedWith: WorkByRepository | null,
): Promise<Readiness> {
  const headAges = await readHeadAges(db, card.id, armedWith ?? workByRepository(repositories));
  return judgeReadiness({ stage, plan, repositories, armedWith, headAges });
}
