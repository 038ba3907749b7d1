import { generateNKeysBetween } from "fractional-indexing";
import { v7 as uuidv7 } from "uuid";
import { issueCredential } from "../src/actions/credentials/credentials.ts";
import { copyFlow } from "../src/actions/boards/projects.ts";
import { DEFAULT_FLOW, type Flow } from "../src/flow/flow.ts";
import { firstValue, type Db } from "../src/store/db/connect.ts";
import { insertProject } from "../src/store/cards/projects.ts";
import { insertWorkspace } from "../src/store/tenancy/workspaces.ts";
import { transaction } from "../src/store/db/transaction.ts";

/** A measured board: one project with the default flow, without repositories. */
export interface BenchBoard {
  readonly workspaceId: string;
  readonly projectId: string;
  readonly cards: number;
  readonly apiKey: string;
  readonly userId: string;
  readonly stages: Flow["stages"];
}

/** With 50,000 cards, timelines have a million rows. */
const EVENTS_PER_CARD = 20;

/** Issues a credential with the role maintainer on one board. */
export function issueBoardCredential(db: Db, workspaceId: string) {
  return issueCredential(
    { db, newId: uuidv7 },
    {
      name: "bench",
      boards: [{ workspaceId, role: "maintainer" }],
      scopes: ["read", "write"],
      expiresAt: null,
    },
  );
}

/**
 * Creates a board with cards that have titles of 40 characters. A third is assigned, half has a
 * label. A tenth is in the backlog, the rest is spread evenly over the other stages.
 */
export async function seedBoard(
  db: Db,
  cards: number,
  name = "bench",
  eventsPerCard = EVENTS_PER_CARD,
): Promise<BenchBoard> {
  const board = await createBoard(db, cards, name);
  const { workspaceId, projectId, userId, stages } = board;
  const stageIds = stages.map(({ id }) => id);
  const bindings = { workspaceId, projectId, userId, cards, stageIds };
  await db.raw(
    `insert into cards (id, workspace_id, project_id, number, title, stage_id, rank, assignee_id, created_by)
     select gen_random_uuid(), :workspaceId, :projectId, n, rpad('Card ' || n || ' ', 40, 'abcdefghij'),
            case when n % 10 = 0 then (:stageIds::uuid[])[1] else (:stageIds::uuid[])[2 + (n % 4)::int] end,
            rank, case when n % 3 = 0 then :userId::uuid end, :userId
       from unnest(:ranks::text[]) with ordinality as ranked(rank, n)`,
    { ...bindings, ranks: generateNKeysBetween(null, null, cards) },
  );
  await db.raw("update workspaces set next_card_number = :cards::int + 1 where id = :workspaceId", bindings);
  await db.raw(
    `with made as (
       insert into labels (id, workspace_id, name, folded_name, color)
       values (gen_random_uuid(), :workspaceId, 'bug', 'bug', 'red') returning id)
     insert into card_labels (card_id, label_id)
     select c.id, made.id from cards c, made where c.workspace_id = :workspaceId and c.number % 2 = 0`,
    bindings,
  );
  await db.raw(
    `insert into timeline_items (id, card_id, type, kind, actor_id, data)
     select gen_random_uuid(), c.id, 'event', 'updated', :userId, '{"fields":["title"]}'
       from cards c, generate_series(1, ${eventsPerCard}) where c.workspace_id = :workspaceId`,
    bindings,
  );
  return board;
}

async function createBoard(db: Db, cards: number, name: string): Promise<BenchBoard> {
  const oldest = "select id from organizations order by created_at limit 1";
  const organizationId = await firstValue<string>(db, oldest, {});
  if (organizationId === null) throw new Error("The sandbox has no organization.");
  const [workspaceId, projectId] = [uuidv7(), uuidv7()];
  const flow = copyFlow({ newId: uuidv7 }, DEFAULT_FLOW);
  await transaction(db, async (trx) => {
    const workspace = { name: `${name} ${cards}`, slug: `${name}-${cards}` };
    await insertWorkspace(trx, { id: workspaceId, organizationId, ...workspace });
    await insertProject(trx, { id: projectId, workspaceId, name: "Bench", slug: "bench", flow });
  });
  const { apiKey, clientId } = await issueBoardCredential(db, workspaceId);
  const owner = "select user_id from credentials where client_id = :clientId";
  const userId = (await firstValue<string>(db, owner, { clientId })) ?? "";
  return { workspaceId, projectId, cards, apiKey, userId, stages: flow.stages };
}
