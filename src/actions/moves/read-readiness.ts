import type { Stage } from "../../flow/flow.ts";
import { agreedWork, judgeReadiness, type Agreed, type Readiness } from "../../flow/readiness.ts";
import { readHeadAges } from "../../store/cards/armed-moves.ts";
import type { Db } from "../../store/db/connect.ts";
import type { Inspection } from "./inspect-card.ts";

/** Whether an inspected card is ready for a stage. `agreed` is null unless its move is armed. */
export async function readReadiness(
  db: Db,
  { card, stage }: { readonly card: { readonly id: string }; readonly stage: Stage },
  { plan, repositories }: Inspection,
  agreed: Agreed | null,
): Promise<Readiness> {
  const headAges = await readHeadAges(db, card.id, agreed ?? agreedWork(repositories));
  return judgeReadiness({ stage, plan, repositories, agreed, headAges });
}
