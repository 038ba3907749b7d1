-- Grants trunkline_service the rights that the service needs when another role applies the migrations: to read and write rows, not to
-- change the schema. Run it with psql as the role that applies the migrations, after each `trunkline migrate`. It can run repeatedly.
--   create role trunkline_service login password '…';    -- once, as an administrator
grant usage on schema public, graphile_worker to trunkline_service;
grant select, insert, update, delete on all tables in schema public, graphile_worker to trunkline_service;
grant usage on all sequences in schema public, graphile_worker to trunkline_service;
-- graphile-worker enables row-level security on its tables, so that only their owner sees the rows.
do $$
declare
  queue name;
begin
  for queue in select tablename from pg_tables where schemaname = 'graphile_worker' and rowsecurity
  loop
    execute format('drop policy if exists service on graphile_worker.%I', queue);
    execute format('create policy service on graphile_worker.%I to trunkline_service using (true)', queue);
  end loop;
end
$$;
