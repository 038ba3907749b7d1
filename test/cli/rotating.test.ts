import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeApi, type Api } from "../support/api.ts";
import { commandLineOf, type CommandLine } from "../support/processes/command-line.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let line: CommandLine;
let board: TestBoard;
beforeAll(async () => {
  line = commandLineOf(world);
  board = await world.board();
});

interface Rotated {
  readonly clientId: string;
  readonly apiKey: string;
  readonly expiresAt: string | null;
  readonly previousUntil: string;
}

const DAY_MS = 86_400_000;
const clientIdOf = (api: Api): string => api.apiKey.split("_")[1] ?? "";
const statusOf = async (apiKey: string): Promise<number> =>
  (await makeApi(board.api.baseUrl, apiKey).get("/v1/me")).status;
const credentials = () => world.service.deps.db("credentials");

describe("credential rotate", () => {
  it("issues another key for the credential; the old one works for a day", async () => {
    const before = await board.as({ role: "member" });
    const clientId = clientIdOf(before);
    const rotated = await line.json<Rotated>("credential", "rotate", clientId);
    expect(rotated).toMatchObject({ clientId, expiresAt: null, name: "member agent" });
    expect(rotated.apiKey).not.toBe(before.apiKey);
    const left = Date.parse(rotated.previousUntil) - Date.now();
    expect(left).toBeGreaterThan(DAY_MS - 600_000);
    expect(left).toBeLessThanOrEqual(DAY_MS);
    const me = (api: Api) => api.get<{ clientId: string; name: string }>("/v1/me");
    const after = makeApi(before.baseUrl, rotated.apiKey);
    expect((await me(after)).body).toEqual((await me(before)).body);
    expect((await me(after)).status).toBe(200);

    await credentials()
      .where({ client_id: clientId })
      .update({ previous_until: new Date(Date.now() - 1) });
    expect([await statusOf(before.apiKey), await statusOf(rotated.apiKey)]).toEqual([401, 200]);
  });

  it("twice leaves the last two keys valid, and revocation ends both", async () => {
    const first = (await board.as({})).apiKey;
    const clientId = first.split("_")[1] ?? "";
    const second = (await line.json<Rotated>("credential", "rotate", clientId)).apiKey;
    const third = (await line.json<Rotated>("credential", "rotate", clientId)).apiKey;
    expect(await Promise.all([first, second, third].map(statusOf))).toEqual([401, 200, 200]);
    expect((await line.run(["credential", "revoke", clientId])).code).toBe(0);
    expect(await Promise.all([second, third].map(statusOf))).toEqual([401, 401]);
    const refused = await line.run(["credential", "rotate", clientId]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("revoked or expired");
  });

  it("does not extend the time of the old key or reactivate an expired one", async () => {
    const api = await board.as({});
    const clientId = clientIdOf(api);
    const soon = new Date(Date.now() + 3_600_000);
    await credentials().where({ client_id: clientId }).update({ expires_at: soon });
    const rotated = await line.json<Rotated>("credential", "rotate", clientId, "--expires", "30d");
    expect(rotated.previousUntil).toBe(soon.toISOString());
    expect(Math.round((Date.parse(rotated.expiresAt ?? "") - Date.now()) / DAY_MS)).toBe(30);
    await credentials()
      .where({ client_id: clientId })
      .update({ expires_at: new Date(Date.now() - 1) });
    expect((await line.run(["credential", "rotate", clientId, "--expires", "never"])).code).toBe(1);
    expect([await statusOf(api.apiKey), await statusOf(rotated.apiKey)]).toEqual([401, 401]);
  });

  it("ends the old key immediately with --keep 0h, and permits at most a day", async () => {
    const api = await board.as({});
    const { apiKey } = await line.json<Rotated>("credential", "rotate", clientIdOf(api), "--keep", "0h");
    expect([await statusOf(api.apiKey), await statusOf(apiKey)]).toEqual([401, 200]);
    const tooLong = await line.run(["credential", "rotate", clientIdOf(api), "--keep", "25h"]);
    expect(tooLong).toMatchObject({ code: 2, stdout: "" });
    expect(tooLong.stderr).toContain("24h");
  });

  it("refuses an unknown credential", async () => {
    expect(await line.run(["credential", "rotate", "nobody"])).toMatchObject({
      code: 1,
      stderr: "There is no credential nobody.\n",
    });
  });
});
