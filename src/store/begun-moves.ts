import { unlessUndone } from "./at-once.ts";
import { CARD_HEAD, isCardNumber, type CardHead } from "./cards.ts";
import type { Db, Question } from "./connect.ts";
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

/** A claim of a key, and the move that was begun with it; null where that takes more than one statement, or is not to be. */
export interface ClaimedMove {
  readonly held: HeldKey;
  readonly beginning: Beginning | null;
}

const CLAIM_AND_BEGIN = `
  with claimed as (
    insert into idempotency_keys (credential_id, key, fingerprint, state, holder)
    select :credentialId, :key, :fingerprint, 'running', :holder where ${LEFT_TO_LATER_COMMITS}
    on conflict (credential_id, key) do nothing
    returning attempt),
  card as materialized (
    select c.id, c.project_id, c.stage_id from cards c
     where c.workspace_id = :workspaceId and c.number = :number and c.deleted_at is null and exists (select 1 from claimed)
       for no key update),
  begun as (
    insert into operations (id, workspace_id, card_id, stage_id, index, actor_id, request_id, holder, state)
    select :id, :workspaceId, card.id, s.id, :index, :actorId, :requestId, :holder, 'running'
      from card join stages s on s.id = :stageId and s.project_id = card.project_id
     where s.id <> card.stage_id and s.min_role = any(:roles) and s.rule_type <> all(:rulesWithoutGit)
       and exists (select 1 from card_repositories cr where cr.card_id = card.id)
       and not exists (
             select 1 from operations o
              where o.card_id = card.id and (o.state in ('running', 'queued') or (o.stage_id = :stageId and o.request_id = :requestId)))
    on conflict (card_id) where state in ('running', 'queued') do nothing
    returning card_id)
  select (select attempt from claimed) as attempt, exists (select 1 from begun) as "isBegun"`;

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
 * Claims a key for a request and begins the move it asks for, in one transaction and one round trip, with all that is to be known of the card before the forge is asked. A key that is known is left to `claimKey`: null.
 * Where a claim is given without a beginning nothing has begun, and what is in the way is to be found step by step. It takes its locks in their order: the key, the card, the stage.
 */
export async function claimAndBegin(db: Db, claim: KeyClaim, move: AskedMove): Promise<ClaimedMove | null> {
  if (!isCardNumber(move.number)) return null;
  const { id, index, roles, rulesWithoutGit } = move;
  const lists = { roles: [...roles], rulesWithoutGit: [...rulesWithoutGit] };
  const bindings = { ...move, ...claim, ...lists, index: Math.min(index, LAST_INDEX) };
  const questions: Question[] = [
    { sql: CLAIM_AND_BEGIN, bindings },
    ...READ.map((sql) => ({ sql, bindings: { id } })),
  ];
  const [claims = [], cards = [], projects = [], links = [], tips = [], left = []] =
    (await unlessUndone(askInOne(db, questions))) ?? [];
  const [claimed] = claims as { readonly attempt: number | null; readonly isBegun: boolean }[];
  if (claimed === undefined || claimed.attempt === null) return null;
  const held = { credentialId: claim.credentialId, key: claim.key, attempt: claimed.attempt };
  if (!claimed.isBegun) return { held, beginning: null };
  const [card] = cards as CardHead[];
  const [project] = projects as Project[];
  if (!card || !project) throw new Error("a move of a card that is not there");
  const mayHaveLeft = (left as { readonly id: string }[]).map((each) => each.id);
  return { held, beginning: { card, project, links: links as Link[], tips: tips as Tip[], mayHaveLeft } };
}
