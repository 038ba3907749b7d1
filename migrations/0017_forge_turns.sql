-- When an installation may next be called. One row for all processes, since the forge counts them as one.
create table forge_turns (
  installation_id bigint primary key,
  -- Writing calls begin one after the other; this is when the next one may.
  next_write_at timestamptz not null default now(),
  -- Calls that make something people see wear an allowance off, which recovers until then.
  recovered_at timestamptz not null default now(),
  -- Until when the forge wants no calls at all, or none of one kind.
  held_until timestamptz,
  rest_held_until timestamptz,
  graphql_held_until timestamptz
);
