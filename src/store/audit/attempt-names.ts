import { rows, type Db } from "../db/connect.ts";

/** The names of what an attempt concerned. Null if they were not recorded or do not exist any more. */
export interface AttemptNames {
  readonly card: {
    readonly number: number;
    /** Null if the board never had the card. */
    readonly title: string | null;
    readonly isDeleted: boolean;
  } | null;
  /** The name of a label, feature, project, page, release, monitor or key, a login, or the host of a webhook. */
  readonly subject: string | null;
  /** The stage or the role after it. */
  readonly to: string | null;
  /** The cards that a promotion refused to move. */
  readonly refused: number;
}

/** The parts of `targets` that name one subject. */
const SUBJECTS = ["labelId", "featureId", "projectId", "docId", "userId", "monitorId", "operationId", "id"];
const UUID = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";

/** The first value of `sql` among the events of an attempt. */
const first = (sql: string): string =>
  `(array_agg(${sql} order by e.id) filter (where ${sql} is not null))[1]`;

const STAGE = `case e.kind when 'status_changed' then e.data->>'to'
                           when 'armed' then e.data->>'statusId' when 'disarmed' then e.data->>'statusId'
                           when 'promotion_refused' then e.data->>'statusId'
                           when 'refusal_withdrawn' then e.data->>'statusId' end`;
const NAME = `coalesce(e.data->>'releaseName', e.data#>>'{to,name}', e.data#>>'{from,name}',
                       e.data#>>'{to,title}', e.data#>>'{from,title}')`;
const MEMBER = "case e.kind when 'member_changed' then e.data->>'userId' end";
const ROLE = "case e.kind when 'member_changed' then e.data->>'to' end";

const REFUSED = `
  (select cast(count(*) as integer) from operations x join release_promotions rp on rp.operation_id = x.id
    where x.release_id = s.id and x.attempt_id = a.id and rp.state = 'refused')`;

/** Whether the board knows the user `id`: a name of another board must not be shown. */
const isKnown = (id: string): string => `(
  exists (select 1 from memberships m where m.user_id = ${id} and m.workspace_id = a.workspace_id)
  or exists (select 1 from workspace_agents wa where wa.user_id = ${id} and wa.workspace_id = a.workspace_id)
  or exists (select 1 from events e where e.attempt_id = a.id and ${MEMBER} = cast(${id} as text)))`;

const ofProject = (id: string): string =>
  `join projects p on p.id = x.project_id where x.id = ${id} and p.workspace_id = a.workspace_id`;
const OF_BOARD = "where x.id = s.id and x.workspace_id = a.workspace_id";

/** Names that exist now, for attempts without an event. */
const PRESENT_NAME = `
  (select x.name from labels x ${OF_BOARD}), (select x.name from features x ${OF_BOARD}),
  (select x.name from projects x ${OF_BOARD}), (select x.title from pages x ${OF_BOARD}),
  (select x.login from invitations x ${OF_BOARD}),
  (select substring(x.url from '//([^/?#]+)') from webhooks x ${OF_BOARD}),
  (select x.name from releases x ${ofProject("s.id")}), (select x.name from monitors x ${ofProject("s.id")}),
  (select r.name from operations x join releases r on r.id = x.release_id ${OF_BOARD}),
  (select x.name from credentials x
    where x.id = s.id and (x.issued_for = a.workspace_id or ${isKnown("x.user_id")})),
  (select coalesce(x.login, x.name) from users x
    where x.id = coalesce(s.id, cast(e.member as uuid)) and ${isKnown("x.id")})`;

/**
 * Names what these attempts of a board concerned: as it was called then, as long as the feed keeps the
 * events, and otherwise as it is called now.
 */
export async function nameAttempts(
  db: Db,
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AttemptNames>> {
  const found = await rows<AttemptNames & { readonly id: string }>(
    db,
    `select a.id,
            case when n.number is not null then json_build_object(
              'number', n.number, 'title', c.title, 'isDeleted', c.deleted_at is not null) end as card,
            coalesce(e.name, ${PRESENT_NAME}) as subject,
            coalesce((select x.name from stages x ${ofProject("cast(e.stage as uuid)")}), e.role) as "to",
            ${REFUSED} as refused
       from audit_log a
      cross join lateral (
        select ${first("e.card_number")} as number, ${first(STAGE)} as stage, ${first(NAME)} as name,
               ${first(MEMBER)} as member, ${first(ROLE)} as role
          from events e where e.attempt_id = a.id) e
      cross join lateral (
        select case jsonb_typeof(a.targets->'number')
                 when 'number' then case when cast(a.targets->>'number' as numeric) between 1 and 2147483647
                                         then cast(a.targets->>'number' as integer) end
                 else e.number end as number) n
      cross join lateral (
        select coalesce(${SUBJECTS.map((name) => `a.targets->>'${name}'`).join(", ")}) as text) t
      cross join lateral (select case when t.text ~* ${UUID} then cast(t.text as uuid) end as id) s
       left join cards c on c.workspace_id = a.workspace_id and c.number = n.number
      where a.id = any(cast(:ids as uuid[])) and a.workspace_id = :workspaceId`,
    { ids: [...ids], workspaceId },
  );
  return new Map(found.map(({ id, ...names }) => [id, names]));
}
