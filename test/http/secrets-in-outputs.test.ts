import { expect, it } from "@jest/globals";
import { v7 as uuidv7 } from "uuid";
import { createMonitor } from "../../src/actions/boards/monitors.ts";
import { rows } from "../../src/store/db/connect.ts";
import { deliver } from "../support/forge/deliveries.ts";
import { useWorld } from "../support/use-world.ts";
import { METRICS_TOKEN } from "../support/world.ts";

const world = useWorld();

/** Every row of every table as text, by table. The tables of the job queue are among them. */
async function dumped(): Promise<Map<string, string>> {
  const { db } = world.service.deps;
  const tables = await rows<{ name: string }>(
    db,
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const dump = new Map<string, string>();
  for (const { name } of tables) {
    const found = await rows<{ text: string }>(db, `select cast(t as text) as text from ${name} t`);
    dump.set(name, found.map(({ text }) => text).join("\n"));
  }
  return dump;
}

/** Records every response of the service from now on, with its headers, as text. */
function recordResponses(): { end(): Promise<string[]> } {
  const { fetch } = globalThis;
  const recorded: Promise<string>[] = [];
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    const text = response.clone().text();
    if (response.url.startsWith(world.service.baseUrl))
      recorded.push(text.then((body) => `${JSON.stringify([...response.headers])}\n${body}`));
    return response;
  };
  return {
    end: () => {
      globalThis.fetch = fetch;
      return Promise.all(recorded);
    },
  };
}

/** Also finds the hex digits in which PostgreSQL prints bytes. */
const holds = (text: string, secret: string): boolean =>
  text.includes(secret) || text.includes(Buffer.from(secret).toString("hex"));

// Invariant: I10
it("no secret is in the log, a response or a table after failures, except the monitor's in its table", async () => {
  const board = await world.board();
  const { db } = world.service.deps;
  const monitor = await createMonitor({ db, newId: uuidv7 }, { projectId: board.projectId, name: "errors" });
  const { faults } = world.forge.control;
  const responses = recordResponses();
  const write = { method: "POST", path: "/repositories/*/git/refs" };
  const { number } = await board.api.card({ title: "Canary" });
  faults.add({ match: write, fault: { kind: "response", status: 502, body: "bad" }, times: 1 });
  await board.api.move(number, board.stages["In progress"]);
  faults.add({ match: write, fault: { kind: "garble", as: "html" }, times: 1 });
  await board.api.move(number, board.stages["In progress"]);
  faults.clear();
  const moved = await board.api.move(number, board.stages["In progress"]);
  expect(moved.status).toBe(200);
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  await world.forge.commit(`${board.owner}/web`, branch, { "hello.txt": "hello\n" });
  await board.api.move(number, board.stages["In review"]);
  await board.api.move(number, board.stages["Done"]);
  await board.api.move(number, board.stages["Done"], 0, { headers: { authorization: "Bearer tlk_wrong" } });
  await deliver(world, "ping", { zen: "Unsigned." }, { secret: "not the secret" });
  await fetch(`${world.service.baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  // GitHub's refusal of a token makes the service mint another one.
  for (const { id, installationId } of world.forge.context.state.tokens.all())
    if (installationId !== null) world.forge.context.state.tokens.delete(id);
  await board.api.move((await board.api.card({ title: "Another" })).number, board.stages["In progress"]);
  await world.forge.waitUntilIdle();

  const { app, users, context } = world.forge;
  const minted = context.state.tokens.all().filter(({ installationId }) => installationId !== null);
  expect(minted.length).toBeGreaterThan(0);
  const secrets: [name: string, secret: string][] = [
    ["API key", board.api.apiKey.split("_")[2] ?? ""],
    ["webhook secret", app.webhookSecret],
    ["private key", app.privateKey.split("\n")[3] ?? ""],
    ["monitor secret", monitor.secret],
    ["metrics token", METRICS_TOKEN],
    ...minted.map(({ token }): [string, string] => ["installation token", token.slice(-60)]),
    ...users.map(({ token }): [string, string] => ["person's token", token]),
  ];
  const log = world.logged();
  const answered = (await responses.end()).join("\n");
  expect(answered).toContain("Canary");
  expect(log).toContain("GitHub did not respond");
  const dump = await dumped();
  expect([...dump.keys()]).toEqual(expect.arrayContaining(["public.credentials", "public.deliveries"]));
  const places = secrets.flatMap(([name, secret]) => {
    expect(secret.length).toBeGreaterThanOrEqual(16);
    const tables = [...dump].filter(([, text]) => holds(text, secret)).map(([table]) => table);
    const outputs = Object.entries({ log, responses: answered }).filter(([, text]) => text.includes(secret));
    return [...outputs.map(([place]) => place), ...tables].map((place) => `${name} in ${place}`);
  });
  // Checking a signature needs the secret itself, not a hash.
  expect(places).toEqual(["monitor secret in public.monitors"]);
});
