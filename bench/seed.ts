import { generateNKeysBetween } from "fractional-indexing";
import { v7 as uuidv7 } from "uuid";
import { issueCredential } from "../src/actions/credentials/credentials.ts";
import { freshFlow } from "../src/actions/boards/projects.ts";
import { DEFAULT_FLOW, type Flow } from "../src/flow/flow.ts";
import { rows, type Db } from "../src/store/connect.ts";
import { insertProject } from "../src/store/projects.ts";
import { insertWorkspace } from "../src/store/workspaces.ts";
import { transaction } from "../src/store/transaction.ts";

/** A board that is measured: one project on the default flow, without repositories. */
export interface BenchBoard {
  readonly workspaceId: string;
  readonly projectId: string;
  readonly cards: number;
  readonly apiKey: string;
  readonly userId: string;
  readonly stages: Flow["stages"];
}

/** Events each card's timeline starts with: 50,000 cards have a million. */
const EVENTS_A_CARD = 20;

/**
 * Makes a board called `name` of so many cards with 40-character titles, a third of them assigned, half of them with a label, spread evenly over the stages but
 * for the backlog, which takes a tenth.
 */
export async function seedBoard(
  db: Db,
  cards: number,
  name = "bench",
  eventsACard = EVENTS_A_CARD,
): Promise<BenchBoard> {
  const [organization] = await rows<{ id: string }>(
    db,
    "select id from organizations order by created_at limit 1",
  );
  if (!organization) throw new Error("the sandbox has no organization");
  const workspaceId = uuidv7();
  const projectId = uuidv7();
  const flow = freshFlow({ newId: uuidv7 }, DEFAULT_FLOW);
  await transaction(db, async (trx) => {
    const organizationId = organization.id;
    await insertWorkspace(trx, {
      id: workspaceId,
      organizationId,
      name: `${name} ${cards}`,
      slug: `${name}-${cards}`,
    });
    await insertProject(trx, { id: projectId, workspaceId, name: "Bench", slug: "bench", flow });
  });
  const { apiKey, clientId } = await issueCredential(
    { db, newId: uuidv7 },
    {
      name: "bench",
      boards: [{ workspaceId, role: "maintainer" }],
      scopes: ["read", "write"],
      expiresAt: null,
    },
  );
  const [credential] = await rows<{ userId: string }>(
    db,
    `select user_id as "userId" from credentials where client_id = :clientId`,
    { clientId },
  );
  const userId = credential?.userId ?? "";
  const stageIds = flow.stages.map(({ id }) => id);
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
       from cards c, generate_series(1, ${eventsACard}) where c.workspace_id = :workspaceId`,
    bindings,
  );
  return { workspaceId, projectId, cards, apiKey, userId, stages: flow.stages };
}
