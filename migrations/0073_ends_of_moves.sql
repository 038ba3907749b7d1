-- Ends a move that the forge has carried out (docs/adr/0006-writes-in-one-statement.md): places the card, tells of it and keeps the answer. False, and nothing is done, where the card is gone or stands there
-- already, and where the move or the request's key is not its holder's any more. `goes_to` and `between_others` are as for `move_card`.
create function end_move(
  held_move uuid, held_attempt integer, card uuid, into_stage uuid, goes_to text, between_others text, fraction text, event uuid, actor uuid,
  credential uuid, request_key text, key_attempt integer, answer text
) returns boolean language plpgsql volatile as $$
declare
  from_stage uuid;
  its_rank text := between_others;
  ignored text;
begin
  select c.stage_id into from_stage from cards c where c.id = card and c.deleted_at is null for no key update;
  if not found or from_stage = into_stage then return false; end if;
  perform 1 from idempotency_keys k
    where k.credential_id = credential and k.key = request_key and k.attempt = key_attempt and k.state = 'running' for no key update;
  if not found then return false; end if;
  update operations o set state = 'done', holder = null, result = answer::jsonb, updated_at = now()
   where o.id = held_move and o.attempt = held_attempt and o.state = 'running';
  if not found then return false; end if;
  ignored := pg_advisory_xact_lock_shared(hashtextextended('column:' || into_stage::text, 0));
  if goes_to = 'first' then
    its_rank := rank_beyond((select c.rank from cards c where c.stage_id = into_stage and c.deleted_at is null order by c.rank limit 1), false, fraction);
  elsif goes_to = 'last' then
    its_rank := rank_beyond((select c.rank from cards c where c.stage_id = into_stage and c.deleted_at is null order by c.rank desc limit 1), true, fraction);
  end if;
  update cards c set stage_id = into_stage, rank = its_rank, updated_at = now(), blocked = null where c.id = card;
  insert into timeline_items (id, card_id, type, kind, actor_id, data)
  values (event, card, 'event', 'status_changed', actor, jsonb_build_object('from', from_stage, 'to', into_stage));
  update idempotency_keys k set state = 'done', holder = null, status = 200, body = answer where k.credential_id = credential and k.key = request_key;
  return true;
end $$;
