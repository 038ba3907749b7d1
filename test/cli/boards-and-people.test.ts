import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeApi } from "../support/api.ts";
import { settled } from "../support/database/database-content.ts";
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

interface Member {
  readonly id: string;
  readonly login: string | null;
  readonly name: string;
  readonly kind: string;
  readonly role: string;
}

const on = (workspaceId: string, login: string): string[] => ["--workspace", workspaceId, "--login", login];
const adaOf = (owned: TestBoard): string => `ada-${owned.owner.slice(4)}`;

const COMMANDS =
  "setup doctor credential operator workspace member agent monitor delivery operation repair forge migrate openapi".split(
    " ",
  );

/** The subcommand in a line of usage, empty for a command without subcommands. */
const verbOf = (text: string): string => /^ *trunkline [a-z]+ ([a-z]+)/.exec(text)?.[1] ?? "";

describe("trunkline", () => {
  it("prints the version of package.json", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(await line.run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("lists every command with a description", async () => {
    for (const words of [["help"], ["--help"], ["-h"]]) {
      const { code, stdout, stderr } = await line.run(words);
      expect([code, stderr]).toEqual([0, ""]);
      for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} +[A-Z]`, "m"));
    }
    expect(await line.run([])).toMatchObject({ code: 2, stdout: "" });
  });

  it.each(COMMANDS)("prints usage, options and an example of %s", async (name) => {
    const help = await line.run(["help", name]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(await line.run([name, "--help"])).toEqual(help);
    const parts = help.stdout.split("\n\n").map((part) => part.split("\n"));
    expect(parts.map(([title]) => title)).toEqual([
      expect.stringMatching(/^[A-Z].*\.$/),
      "Usage:",
      "Options:",
      "Example:",
    ]);
    const [, usage = [], options = [], examples = []] = parts.map((lines) => lines.slice(1));
    const named = usage.join(" ").match(/--[a-z-]+|<(?:clientId|monitorId|guid|operationId)>/g) ?? [];
    const described = options.map((option) => option.trim().split(" ")[0]);
    expect(described).toEqual(expect.arrayContaining(named));
    for (const option of described) expect([...named, "--json", "-h,"]).toContain(option);
    for (const form of usage) expect(examples.some((example) => verbOf(example) === verbOf(form))).toBe(true);
  });

  it("prints the requested subcommand only", async () => {
    const help = await line.run(["member", "add", "--help"]);
    expect(help).toEqual(await line.run(["help", "member", "add"]));
    expect(help.stdout).toContain("--role");
    expect(help.stdout).not.toMatch(/member (list|remove)/);
    expect((await line.run(["help", "member", "list"])).stdout).not.toContain("--role");
  });

  it("refuses unknown commands and invalid arguments and prints the usage", async () => {
    for (const words of [
      ["membr", "list"],
      ["help", "membr"],
      ["membr", "--help"],
    ]) {
      const unknown = await line.run(words);
      expect(unknown).toMatchObject({ code: 2, stdout: "" });
      expect(unknown.stderr).toContain("There is no command `membr`.");
    }
    const unknownVerb = await line.run(["member", "invite"]);
    expect(unknownVerb).toMatchObject({ code: 2, stdout: "" });
    expect(unknownVerb.stderr).toContain(
      "There is no command `member invite`. Use one of: add, list, remove.",
    );
    expect(unknownVerb.stderr).toContain("  trunkline member add ");
  });
});

describe("workspace create", () => {
  const create = (on: CommandLine, organization: string) =>
    on.run(["workspace", "create", "--organization", organization, "--name", "Web"]);

  it.each([
    ["is not recorded", false, /^The App is installed on org-\w+, but the service has not recorded it yet/],
    ["is suspended", true, /^The App is installed on org-\w+, but suspended\./],
  ])("says of an unknown account that the installation %s", async (_, isSuspended, message) => {
    const { owner } = await world.board();
    world.forge.webUi.setSuspended(owner, isSuspended);
    // A delivery processed later would record the account again.
    await settled(world);
    // As after an installation of which no webhook has arrived.
    const { db } = world.service.deps;
    await db("organizations")
      .where({ slug: owner })
      .update({ slug: `former-${owner}` });
    expect(await create(line, owner)).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    await db("organizations")
      .where({ slug: `former-${owner}` })
      .update({ slug: owner });
    world.forge.webUi.setSuspended(owner, false);
  });

  it("says of an unknown account that GitHub cannot be asked", async () => {
    const wrongKey = commandLineOf(world, { APP_ID: "999999" });
    expect(await create(wrongKey, "nowhere")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^The account nowhere is unknown, and cannot be looked up: GitHub does not accept our credentials/,
      ),
    });
  });

  it("creates a board with a project and the default flow, ready for a credential", async () => {
    const made = await line.json<{ id: string; projectId: string; slug: string }>(
      ..."workspace create --name Platform --organization".split(" "),
      board.owner.toUpperCase(),
    );
    expect(made).toMatchObject({ name: "Platform", slug: "platform", organizationSlug: board.owner });
    const issued = await line.json<{ apiKey: string }>(
      ..."credential issue --name setup --scopes read,write --board".split(" "),
      `${made.id}:maintainer`,
    );
    const api = makeApi(board.api.baseUrl, issued.apiKey);
    const columns = (await api.get<{ columns: { name: string }[] }>("/v1/board")).body.columns;
    expect(columns.map(({ name }) => name)).toEqual(["To do", "In progress", "In review", "Done"]);
    expect(await api.card({ title: "First" })).toMatchObject({ number: 1, projectId: made.projectId });
    expect((await api.get("/v1/repositories")).body).toEqual([]);
  });

  it("refuses a used name and an unknown organization", async () => {
    const create = (organization: string) =>
      line.run(["workspace", "create", "--organization", organization, "--name", "Twice"]);
    expect((await create(board.owner)).code).toBe(0);
    const usedName = await create(board.owner);
    expect(usedName).toMatchObject({ code: 1, stdout: "" });
    expect(usedName.stderr).toContain("twice already");
    const unknown = await create("no-such-account");
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("no-such-account");
  });
});

describe("member add, list and remove", () => {
  it("add a GitHub account that was never seen, change its role, and remove it", async () => {
    const { workspaceId } = board;
    const login = adaOf(board);
    const added = await line.json<Member>(
      "member",
      "add",
      ...on(workspaceId, login.toUpperCase()),
      "--role",
      "viewer",
    );
    expect(added).toMatchObject({ workspaceId, login, role: "viewer" });
    await line.json("member", "add", ...on(workspaceId, login), "--role", "maintainer");
    const list = () => line.json<Member[]>("member", "list", "--workspace", workspaceId);
    expect(await list()).toEqual([
      expect.objectContaining({ login: null, kind: "machine" }),
      { id: added.id, login, name: login, kind: "human", role: "maintainer" },
    ]);
    const card = await board.api.post("/v1/cards", { title: "Theirs", assigneeId: added.id });
    expect(card).toMatchObject({ status: 201, body: { assignee: { id: added.id, name: login } } });

    expect((await line.run(["member", "remove", ...on(workspaceId, login)])).code).toBe(0);
    expect(await list()).toHaveLength(1);
    const again = await line.run(["member", "remove", ...on(workspaceId, login)]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect((await board.api.post("/v1/cards", { title: "x", assigneeId: added.id })).status).toBe(400);
  });

  it.each<[string, (login: string, workspaceId: string) => string[], number, string]>([
    ["an unknown account", (_, id) => [...on(id, "no-such-user"), "--role", "member"], 1, "no-such-user"],
    ["an organization", (_, id) => [...on(id, "ORG"), "--role", "member"], 1, "no user or bot"],
    ["an unknown role", (login, id) => [...on(id, login), "--role", "king"], 2, "viewer, member, maintainer"],
    ["a board by its name", (login) => [...on("acme", login), "--role", "member"], 2, "is not an id"],
    [
      "an unknown board",
      (login) => [...on("01900000-0000-7000-8000-000000000000", login), "--role", "member"],
      1,
      "There is no workspace",
    ],
  ])("refuse %s", async (_, argsOf, code, words) => {
    const args = argsOf(adaOf(board), board.workspaceId).map((arg) => (arg === "ORG" ? board.owner : arg));
    const refused = await line.run(["member", "add", ...args]);
    expect(refused).toMatchObject({ code, stdout: "" });
    expect(refused.stderr).toContain(words);
    expect(refused.stderr).not.toContain("    at ");
  });

  it("report what is missing if no forge is configured", async () => {
    const alone = commandLineOf(world, {
      APP_ID: "",
      PRIVATE_KEY: "",
      WEBHOOK_SECRET: "",
      GHE_HOST: "",
    });
    const args = ["member", "add", ...on(board.workspaceId, adaOf(board)), "--role", "member"];
    const refused = await alone.run(args);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("APP_ID");
  });
});

describe("monitor create, list, secret and remove", () => {
  it("print a secret only once", async () => {
    const made = await line.json<{ id: string; url: string; secret: string }>(
      ..."monitor create --name Sentry --project".split(" "),
      board.projectId,
    );
    expect(made).toEqual({
      id: expect.any(String),
      url: `${board.api.baseUrl}/monitors/${made.id}`,
      secret: expect.stringMatching(/^tlm_\w{43}$/),
    });
    const listed = await line.run(["monitor", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        id: made.id,
        name: "Sentry",
        projectId: board.projectId,
        createdAt: expect.any(String),
        createdBy: null,
        stoppedAt: null,
      },
    ]);
    const changed = await line.run(["monitor", "secret", made.id], "a-secret-from-elsewhere\n");
    expect(changed.code).toBe(0);
    expect(changed.stdout + changed.stderr + listed.stdout).not.toMatch(/a-secret|tlm_/);
    const tooShort = await line.run(["monitor", "secret", made.id], "short\n");
    expect(tooShort).toMatchObject({ code: 2, stdout: "" });
    expect((await line.run(["monitor", "remove", made.id])).code).toBe(0);
    expect((await line.run(["monitor", "remove", made.id])).code).toBe(1);
  });

  it("refuse an unknown project", async () => {
    const id = "01900000-0000-7000-8000-000000000000";
    const refused = await line.run(["monitor", "create", "--project", id, "--name", "x"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain(`There is no project ${id}`);
  });

  it.each(["", "localhost:3000", "https://example.com/?at=home"])(
    "refuse `%s` as the service's URL",
    async (PUBLIC_URL) => {
      const unaware = commandLineOf(world, { PUBLIC_URL });
      const refused = await unaware.run(["monitor", "create", "--project", board.projectId, "--name", "x"]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toContain("PUBLIC_URL");
    },
  );
});
