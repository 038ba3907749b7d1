-- As the functions of 0034: asked after the card's row was waited for, of what was committed by then.
create function has_finished(card uuid, request text) returns boolean language sql volatile as $$
  select exists (select 1 from operations o where o.card_id = card and o.request_id = request and o.state = 'done')
$$;
