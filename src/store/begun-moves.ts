import { unlessUndone, type KeyedRequest } from "./at-once.ts";
import { CARD_HEAD, isCardNumber, type CardHead } from "./cards.ts";
import type { Db, Question } from "./connect.ts";
import { STAMP } from "./credentials.ts";
import { LEFT_TO_LATER_COMMITS } from "./flushing.ts";
import type { HeldKey, KeyClaim } from "./idempotency.ts";
import { UNHEARD_CUT } from "./intents.ts";
import { linksOf, type Link } from "./links.ts";
import { LAST_INDEX } from "./operations.ts";
import { askInOne } from "./pipeline.ts";
import { PROJECT, type Project } from "./projects.ts";
import { freshTips, type Tip } from "./trunk-tips.ts";

/** A move through the forge that a request asks for. */
export interface AskedMove {
  /** The operation's, should it begin. */
  readonly id: string;
  readonly workspaceId: string;
  readonly number: number;
  readonly stageId: string;
  readonly index: number;
  readonly actorId: string;
  /** Names the request across its retries. */
  readonly requestId: string;
  /** The least roles of stages that the caller may move a card into. */
  readonly roles: readonly string[];
  /** The rules of stages that ask for no Git. */
  readonly rulesWithoutGit: readonly string[];
}

/** What is known of a card as its move begins: its flow and its links stay as they are until the move has ended. */
export interface Beginning {
  readonly card: CardHead;
  readonly project: Project;
  readonly links: readonly Link[];
  readonly tips: readonly Tip[];
  /** The repositories in which the card has, or may have, left a branch behind. */
  readonly mayHaveLeft: readonly string[];
}

/** A move that has begun, and the key that was claimed with it. */
export interface BegunMove extends Beginning {
  readonly held: HeldKey;
}

const CLAIM_AND_BEGIN = `
  with stamp as materialized (select ${STAMP} as stamp),
  card as materialized (
    select c.id, c.project_id, c.stage_id from cards c
     where c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null and (select stamp from stamp) = :stamp
       for no key update),
  fit as materialized (
    select card.id, s.id as stage_id from card join stages s on s.id = :stageId and s.project_id = card.project_id
     where s.id <> card.stage_id and s.min_role = any(:roles) and s.rule_type <> all(:rulesWithoutGit)
       and exists (select 1 from card_repositories cr where cr.card_id = card.id)
       and not exists (
             select 1 from operations o
              where o.card_id = card.id and (o.state in ('running', 'queued') or (o.stage_id = :stageId and o.request_id = :requestId)))),
  claimed as (
    insert into idempotency_keys (credential_id, key, fingerprint, state, holder)
    select :credentialId, :key, :fingerprint, 'running', :holder from fit where ${LEFT_TO_LATER_COMMITS}
    on conflict (credential_id, key) do nothing
    returning attempt),
  begun as (
    insert into operations (id, workspace_id, card_id, stage_id, index, actor_id, request_id, holder, state)
    select :id, :workspaceId, fit.id, fit.stage_id, :index, :actorId, :requestId, :holder, 'running' from fit where exists (select 1 from claimed)
    returning id)
  select (select stamp from stamp) as stamp, (select attempt from claimed) as attempt, (select id from begun) as id`;

/** What is read of the card with the move, once that has begun. */
const BEGUN = "(select o.card_id from operations o where o.id = :id)";
const READ = [
  `${CARD_HEAD} where id = ${BEGUN}`,
  `${PROJECT} where p.id = (select c.project_id from cards c where c.id = ${BEGUN})`,
  linksOf(BEGUN),
  freshTips(`select cr.repository_id from card_repositories cr where cr.card_id = ${BEGUN}`),
  `select l.repository_id as id from left_branches l where l.card_id = ${BEGUN}
    union select i.repository_id from forge_intents i where i.card_id = ${BEGUN} and ${UNHEARD_CUT}`,
];

/**
 * Claims a key for a request and begins the move it asks for, in one transaction and one round trip, with all that is to be known of the card before the forge is asked. Null, and nothing is done, where the
 * key is known, or anything stands in the way of the move. Throws `Outdated` where the credential is another by now.
 */
export async function claimAndBegin(
  db: Db,
  { presumed, ...claim }: KeyClaim & KeyedRequest,
  move: AskedMove,
): Promise<BegunMove | null> {
  if (!isCardNumber(move.number)) return null;
  const { clientId, stamp } = presumed.credential;
  const index = Math.min(move.index, LAST_INDEX);
  const questions: Question[] = [
    { sql: CLAIM_AND_BEGIN, bindings: { clientId, stamp, ...claim, ...move, index } },
    ...READ.map((sql) => ({ sql, bindings: { id: move.id } })),
  ];
  const [claims = [], cards = [], projects = [], links = [], tips = [], left = []] =
    (await unlessUndone(askInOne(db, questions))) ?? [];
  const [claimed] = claims as Claimed[];
  if (!claimed) return null;
  presumed.settle(claimed.stamp);
  const [card] = cards as CardHead[];
  const [project] = projects as Project[];
  if (claimed.id === null || claimed.attempt === null) return null;
  if (!card || !project) throw new Error(`move ${claimed.id} of a card that is not there`);
  const held = { credentialId: claim.credentialId, key: claim.key, attempt: claimed.attempt };
  const mayHaveLeft = (left as { readonly id: string }[]).map(({ id }) => id);
  return { held, card, project, links: links as Link[], tips: tips as Tip[], mayHaveLeft };
}

interface Claimed {
  readonly stamp: string | null;
  readonly attempt: number | null;
  readonly id: string | null;
}
