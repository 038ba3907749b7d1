import { Client } from "pg";

/**
 * Lets PostgreSQL wait up to 0.2 seconds before it hands out a job, numbers events or stores a webhook of GitHub. Tests that rely on
 * background work being fast fail then. `DELAYS=1` adds it to the databases of a run.
 */
const DELAYS = `
  create schema delays;
  create function delays.wait() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(random() * 0.2);
      return new;
    end $$;
  create trigger delay before insert on deliveries for each statement execute function delays.wait();
  create trigger delay before update of seq on events for each statement execute function delays.wait();
  create trigger delay before update of locked_at on graphile_worker._private_jobs for each row
    when (old.locked_at is null and new.locked_at is not null) execute function delays.wait();
  grant usage on schema delays to public;`;

export async function addDelays(connectionString: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(DELAYS);
  } finally {
    await client.end();
  }
}
