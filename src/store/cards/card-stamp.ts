import { firstValue, type Db } from "../db/connect.ts";

/**
 * A text that changes with everything stored about a card, and with each delivery about its
 * repositories, also one that waits to be processed. `xmin` is the transaction that wrote a row.
 */
export async function readCardStamp(db: Db, cardId: string): Promise<string> {
  const stamp = await firstValue<string>(
    db,
    `select concat_ws(' ',
              (select c.xmin from cards c where c.id = :cardId),
              (select max(t.seq) from timeline_items t where t.card_id = :cardId),
              (select string_agg(concat_ws(':', l.xmin, r.last_webhook_at,
                                           (select max(d.seq) from deliveries d
                                             where d.lane = 'repository:' || r.forge_id and d.state = 'waiting')),
                                 ' ' order by r.id)
                 from card_repositories l join repositories r on r.id = l.repository_id where l.card_id = :cardId),
              (select string_agg(p.xmin::text, ' ' order by p.repository_id, p.number)
                 from pull_requests p where p.card_id = :cardId)) as stamp`,
    { cardId },
  );
  return stamp ?? "";
}
