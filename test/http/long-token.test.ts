import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "@jest/globals";
import { onForge } from "../support/forge/installations.ts";
import { expectConsistent } from "../support/invariants.ts";
import { openCard } from "../support/stories/open-card.ts";
import { useWorld } from "../support/use-world.ts";

const world = useWorld();

/** GitHub's token format since 2026: three parts with dots between them, about 520 characters. */
const LONG = /^ghs_\w+\.[\w-]{400,}\.[\w-]+$/;

// Fault: C15 A token has 520 characters => it works, unlogged
it("a token of 520 characters with dots works for calls and Git, and is never logged", async () => {
  const board = await world.board();
  const { installation } = onForge(world, board);
  const shown = new Set<string>();
  const { control, context } = world.forge;
  const stop = control.observe({
    onCall: ({ headers }) => {
      const [, token] = /^token (ghs_\S+)$/.exec(String(headers["authorization"])) ?? [];
      if (token !== undefined) shown.add(token);
    },
  });
  const { number } = await openCard(world, board);
  const [token = ""] = shown;
  control.faults.add({
    match: { installationId: installation.id, method: "PUT" },
    fault: { kind: "response", status: 502, body: { message: `no upstream for token ${token}` } },
    times: 1,
  });
  expect((await board.api.move(number, board.stages.Done)).status).toBe(200);
  stop();
  expect([...shown].filter((each) => !LONG.test(each) || each.length < 500)).toEqual([]);
  expect(context.state.tokens.all().find((each) => each.token === token)?.installationId).toBe(
    installation.id,
  );

  const url = new URL(`/${board.owner}/web.git`, world.forge.apiUrl);
  Object.assign(url, { username: "x-access-token", password: token });
  const { stdout } = await promisify(execFile)("git", ["ls-remote", url.href, "refs/heads/main"]);
  expect(stdout).toMatch(/^[0-9a-f]{40}\trefs\/heads\/main\n$/);

  world.service.deps.log.error({ err: new Error(`refused: ${token}`), url: url.href }, `asked with ${token}`);
  const log = world.logged();
  expect(log).toContain("asked with");
  // A part of the token must not be logged either.
  for (const part of token.slice(4).split(".")) expect(log.includes(part.slice(-30))).toBe(false);
  await expectConsistent({ forge: world.forge, db: board.db }, board);
});
