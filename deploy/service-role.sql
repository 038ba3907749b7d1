-- What a service needs whose migrations are applied by another role: rows, and no tables of its own. For psql, as the role that applies
-- the migrations, after each `trunkline migrate`; doing it again does no harm.
--   create role trunkline_service login password '…';    -- once, as an administrator
grant usage on schema public, graphile_worker to trunkline_service;
grant select, insert, update, delete on all tables in schema public, graphile_worker to trunkline_service;
grant usage on all sequences in schema public, graphile_worker to trunkline_service;
-- The job queue shows its rows to nobody but their owner.
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
