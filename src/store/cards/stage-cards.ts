import { rows, type Db } from "../db/connect.ts";

/** Some cards: how many, and the numbers of the first ones. */
export interface CountedCards {
  readonly count: number;
  readonly numbers: readonly number[];
}

/** The cards of a stage, and those whose armed move leads to it. */
export interface StageCards {
  readonly id: string;
  readonly cards: CountedCards;
  readonly armed: CountedCards;
}

/** How many numbers are listed. */
const LISTED = 12;

const counted = (cards: string): string => `json_build_object(
  'count', (select count(*) ${cards}),
  'numbers', array(select c.number ${cards} order by c.number limit ${LISTED}))`;

const IN_STAGE = "from cards c where c.stage_id = s.id and c.deleted_at is null";
const INTO_STAGE = `from armed_moves a join operations o on o.id = a.operation_id join cards c on c.id = a.card_id
                   where o.stage_id = s.id and a.expires_at > now() and c.deleted_at is null`;

/** Counts the cards of each stage of a project, in the order of its flow. */
export const countStageCards = (db: Db, projectId: string): Promise<StageCards[]> =>
  rows<StageCards>(
    db,
    `select s.id, ${counted(IN_STAGE)} as cards, ${counted(INTO_STAGE)} as armed
       from stages s where s.project_id = :projectId order by s.position`,
    { projectId },
  );
