import { createHash } from "node:crypto";
import { column, firstRow, rows, type Db, type Trx } from "../db/connect.ts";
import { LOCK_IDS } from "../db/lock-ids.ts";
import { allInOrder, transaction } from "../db/transaction.ts";
import { ENTRY } from "./attempts.ts";

const BATCH = 500;

/** SQL for the text of the row `a` that its hash covers: the columns that do not change after its end. */
const HASHED_TEXT = `
  cast(jsonb_build_array(
    a.id, to_char(a.occurred_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'),
    to_char(a.ended_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), a.workspace_id, a.actor, a.client_id, a.action,
    a.targets, a.status, a.problem, a.is_replay, a.address, a.user_agent, a.request_id, a.forge_calls) as text)`;

/** A position in the chain and the hash there, in hexadecimal; empty before the first row. */
interface ChainEnd {
  readonly position: number;
  readonly hash: string;
}

/** The hash of a row: of the previous row's hash, its position and its text. */
const hashOf = (previous: string, position: number, text: string): string =>
  createHash("sha256").update(Buffer.from(previous, "hex")).update(`${position} ${text}`).digest("hex");

const END = (name: "head" | "anchor"): string =>
  `select ${name}_position as position, encode(${name}_hash, 'hex') as hash from audit_chain`;

async function readEnd(db: Db, name: "head" | "anchor"): Promise<ChainEnd> {
  return (await firstRow<ChainEnd>(db, END(name))) ?? { position: 0, hash: "" };
}

/** Whether there are ended attempts that are not in the chain. */
export const hasUnchained = async (db: Db): Promise<boolean> =>
  (await firstRow(db, "select 1 from audit_log where position is null and ended_at is not null limit 1")) !==
  null;

/**
 * Adds the ended attempts to the chain. The lock is taken by an earlier statement, so that the later
 * ones see what the previous holder committed.
 */
export async function extendChain(db: Db): Promise<void> {
  for (let isMore = true; isMore;) {
    isMore = await transaction(db, async (trx) => {
      const [, head, ended] = await allInOrder([
        rows(trx, "select pg_advisory_xact_lock(:lock)", { lock: LOCK_IDS.auditChain }),
        readEnd(trx, "head"),
        rows<{ id: string; text: string }>(
          trx,
          `select a.id, ${HASHED_TEXT} as text from audit_log a
            where a.position is null and a.ended_at is not null order by a.id limit :batch`,
          { batch: BATCH },
        ),
      ]);
      if (ended.length > 0) await appendRows(trx, head, ended);
      return ended.length === BATCH;
    });
  }
}

async function appendRows(
  trx: Trx,
  head: ChainEnd,
  ended: readonly { readonly id: string; readonly text: string }[],
): Promise<void> {
  let { position, hash } = head;
  const links = ended.map(({ id, text }) => {
    const prevHash = hash;
    position += 1;
    hash = hashOf(prevHash, position, text);
    return { id, position, prevHash, hash };
  });
  await allInOrder([
    rows(
      trx,
      `update audit_log a
          set position = n.position, prev_hash = decode(n."prevHash", 'hex'), hash = decode(n.hash, 'hex')
         from jsonb_to_recordset(cast(:links as jsonb)) n (id uuid, position bigint, "prevHash" text, hash text)
        where a.id = n.id`,
      { links: JSON.stringify(links) },
    ),
    rows(trx, "update audit_chain set head_position = :position, head_hash = decode(:hash, 'hex')", {
      position,
      hash,
    }),
  ]);
}

interface ChainRow extends ChainEnd {
  readonly id: string;
  readonly prevHash: string;
  readonly text: string;
}

/** The result of a verification: `broken` names the first row that is changed or missing. */
export interface Verification {
  readonly rows: number;
  readonly last: ChainEnd;
  readonly broken: string | null;
}

/** Computes all hashes again, starting with the hash of the last deleted row. */
export async function verifyChain(db: Db): Promise<Verification> {
  return transaction(db, async (trx) => {
    await rows(trx, "set transaction isolation level repeatable read read only");
    const anchor = await readEnd(trx, "anchor");
    let last = anchor;
    const result = (broken: string | null): Verification => {
      const { position, hash } = last;
      return { rows: position - anchor.position, last: { position, hash }, broken };
    };
    for (let isMore = true; isMore;) {
      const batch = await rows<ChainRow>(
        trx,
        `select a.id, a.position, encode(a.prev_hash, 'hex') as "prevHash", encode(a.hash, 'hex') as hash, ${HASHED_TEXT} as text
           from audit_log a where a.position > :position order by a.position limit :batch`,
        { position: last.position, batch: BATCH },
      );
      for (const row of batch) {
        const broken = mismatchOf(row, last);
        if (broken !== null) return result(broken);
        last = row;
      }
      isMore = batch.length === BATCH;
    }
    const head = await readEnd(trx, "head");
    const isComplete = head.position === last.position && head.hash === last.hash;
    return result(isComplete ? null : `Row ${last.position + 1} is missing.`);
  });
}

function mismatchOf({ id, position, prevHash, hash, text }: ChainRow, last: ChainEnd): string | null {
  if (position !== last.position + 1) return `Row ${last.position + 1} is missing.`;
  if (hash !== hashOf(prevHash, position, text)) return `Row ${position} was changed: attempt ${id}.`;
  // The previous row and its hash were changed together, or another row was put in its place.
  if (prevHash !== last.hash) return `Row ${last.position} was changed, with its hash.`;
  return null;
}

/** Lists the attempts in the order of the chain, each as one line of JSON. */
export async function readChain(
  db: Db,
  after: number,
  limit: number,
): Promise<readonly { readonly position: number; readonly line: string }[]> {
  return rows(
    db,
    `select a.position,
            cast(json_build_object('position', a.position, 'prevHash', encode(a.prev_hash, 'hex'),
                                   'workspaceId', a.workspace_id, ${ENTRY}) as text) as line
       from audit_log a where a.position > :after order by a.position limit :limit`,
    { after, limit },
  );
}

/**
 * Deletes rows of the chain that are older than `days`, from its start and in batches. Stores position
 * and hash of the last deleted row, where verification starts. Returns the number of deleted rows.
 */
export async function dropOldAttempts(db: Db, days: number, batch = BATCH): Promise<number> {
  for (let total = 0; ;) {
    const deleted = await column<number>(
      db,
      `with oldest as (
         select position, hash, occurred_at < now() - :days * interval '1 day' as is_old
           from audit_log where position is not null order by position limit :batch),
       deleted as (
         delete from audit_log a using oldest o
          where a.position = o.position
            and a.position < coalesce((select min(position) from oldest where not is_old), 9223372036854775807)
         returning a.position, a.hash),
       anchor as (
         update audit_chain set anchor_position = d.position, anchor_hash = d.hash
           from (select position, hash from deleted order by position desc limit 1) d
          where anchor_position < d.position)
       select position from deleted`,
      { days, batch },
    );
    total += deleted.length;
    if (deleted.length < batch) return total;
  }
}
