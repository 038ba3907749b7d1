import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "../../src/log.ts";
import { startService, type RunningService } from "../../src/service.ts";
import { connect, type Db } from "../../src/store/db/connect.ts";
import { startSurroundings, type Surroundings } from "../faults/support/surroundings.ts";

const GRANTS = join(import.meta.dirname, "../../deploy/service-role.sql");
const role = `service_${randomBytes(6).toString("hex")}`;

let surroundings: Surroundings;
let databaseUrl: string;
let asRole: Db;
const lines: string[] = [];
beforeAll(async () => {
  surroundings = await startSurroundings();
  await surroundings.db.raw(`create role ${role} login password 'of-the-service'`);
  const url = new URL(surroundings.databaseUrl);
  url.username = role;
  url.password = "of-the-service";
  databaseUrl = url.href;
  asRole = connect({ connectionString: databaseUrl, onError: () => undefined });
});
afterAll(async () => {
  await asRole.destroy();
  await surroundings.db.raw(`drop owned by ${role}; drop role ${role}`);
  await surroundings.stop();
});

const grant = async (): Promise<unknown> =>
  surroundings.db.raw((await readFile(GRANTS, "utf8")).replaceAll("trunkline_service", role));
const start = (): Promise<RunningService> =>
  startService({
    databaseUrl,
    host: "127.0.0.1",
    port: 0,
    github: surroundings.github,
    log: createLog("info", { write: (line) => void lines.push(line) }),
  });

it("a service that may not change the schema works, and reports a missing migration", async () => {
  await grant();
  await grant();
  await expect(asRole.raw("create table of_its_own (id int)")).rejects.toMatchObject({ code: "42501" });
  await expect(asRole.raw("drop table cards")).rejects.toMatchObject({ code: "42501" });
  const service = await start();
  surroundings.forge.setWebhookUrl(service.webhookUrl);
  const board = await surroundings.board(service.baseUrl);
  const { number } = await board.api.card({ title: "Without the schema's keys" });
  await board.api.post(`/v1/cards/${number}/comments`, { body: "Told by a job." });
  expect((await board.api.move(number, board.stages["In progress"])).status).toBe(200);
  const branch = (await board.api.readCard(number)).repositories[0]?.branchName ?? "";
  await board.person("ada", "PUT", `/repos/${board.owner}/web/contents/hello.txt`, {
    message: "Say hello",
    content: Buffer.from("hello\n").toString("base64"),
    branch,
  });
  await board.api.cardWhen(number, ({ repositories }) => repositories[0]?.prState === "draft");
  expect((await board.api.move(number, board.stages["Done"])).status).toBe(200);
  expect((await fetch(`${service.baseUrl}/readyz`)).status).toBe(200);
  await service.stop();
  expect(lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);

  const [lastLine] = (await surroundings.db("knex_migrations").orderBy("id", "desc").limit(1)) as {
    name: string;
  }[];
  await surroundings.db("knex_migrations").where({ name: lastLine?.name }).delete();
  await expect(start()).rejects.toMatchObject({
    message: expect.stringMatching(/^This database role may not apply migrations\. Run `trunkline migrate`/),
  });
});
