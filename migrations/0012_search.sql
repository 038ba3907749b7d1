-- The words of cards, pages and comments, for `GET /v1/search` and the `q` of `GET /v1/cards`.

-- A table of its own: with an index on `cards`, every move would write all words of the card again,
-- and a comment does not name its board.
create table search_texts (
  -- The id of the card, page or comment.
  id uuid primary key,
  workspace_id uuid not null,
  kind text not null check (kind in ('card', 'page', 'comment')),
  -- The words with their positions; those of a title have the weight A. Also `=<workspace_id>` and
  -- `=<kind>`, which no text contains, so that the index finds the matches on one board.
  words tsvector not null
);
-- Without `fastupdate`: otherwise one of many writers inserts the words of all others, and searches
-- read a list of those not yet inserted.
create index on search_texts using gin (words) with (fastupdate = off);

-- Text for PostgreSQL's parser. Spaces replace what makes it read a path, an address or a tag as one
-- word, so that `app` finds `src/app.ts`.
create function search_text(text) returns text language sql immutable parallel safe as $$
  select translate(normalize($1, nfkc), '/._@:<>&', '        ')
$$;

-- Stores the words of a text. The configuration `simple` does not stem: boards have any language and
-- many names from code, and a search finds exactly the words that were typed. Words after 65,536
-- characters are not found, because a tsvector has at most 1 MiB.
create function record_text(id uuid, workspace_id uuid, kind text, title text, body text) returns void
language sql as $$
  insert into search_texts (id, workspace_id, kind, words)
  values ($1, $2, $3,
          setweight(to_tsvector('simple', search_text($4)), 'A')
          || to_tsvector('simple', search_text(left($5, 65536)))
          || array_to_tsvector(array['=' || $2, '=' || $3]))
  on conflict (id) do update set words = excluded.words
$$;

-- In SQL, because many statements write cards, pages and comments.
create function record_card_text() returns trigger language plpgsql as $$
begin
  if new.deleted_at is null then
    perform record_text(new.id, new.workspace_id, 'card', new.title, new.description);
  else
    delete from search_texts
     where id = new.id
        or id in (select t.id from timeline_items t where t.card_id = new.id and t.type = 'comment');
  end if;
  return null;
end $$;
create trigger record_text after insert on cards
  for each row execute function record_card_text();
create trigger record_changed_text after update of title, description, deleted_at on cards for each row
  when ((old.title, old.description, old.deleted_at is null)
        is distinct from (new.title, new.description, new.deleted_at is null))
  execute function record_card_text();

create function record_page_text() returns trigger language plpgsql as $$
begin
  perform record_text(new.id, new.workspace_id, 'page', new.title, new.body);
  return null;
end $$;
create trigger record_text after insert on pages
  for each row execute function record_page_text();
create trigger record_changed_text after update of title, body on pages for each row
  when ((old.title, old.body) is distinct from (new.title, new.body))
  execute function record_page_text();

create function record_comment_text() returns trigger language plpgsql as $$
begin
  if new.deleted_at is null then
    perform record_text(new.id, c.workspace_id, 'comment', '', new.body)
       from cards c where c.id = new.card_id and c.deleted_at is null;
  else
    delete from search_texts where id = new.id;
  end if;
  return null;
end $$;
create trigger record_text after insert on timeline_items for each row
  when (new.type = 'comment') execute function record_comment_text();
create trigger record_changed_text after update of body, deleted_at on timeline_items for each row
  when (new.type = 'comment'
        and (old.body, old.deleted_at is null) is distinct from (new.body, new.deleted_at is null))
  execute function record_comment_text();

create function remove_text() returns trigger language plpgsql as $$
begin
  delete from search_texts where id = old.id;
  return null;
end $$;
create trigger remove_text after delete on cards
  for each row execute function remove_text();
create trigger remove_text after delete on pages
  for each row execute function remove_text();
create trigger remove_text after delete on timeline_items
  for each row when (old.type = 'comment') execute function remove_text();
