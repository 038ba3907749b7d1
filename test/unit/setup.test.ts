import { expect, it } from "@jest/globals";
import { runCommandLine } from "../../src/cli/run.ts";
import { NEEDED_PERMISSIONS } from "../../src/forge/github/app.ts";

async function setup(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const code = await runCommandLine(["setup", "--by-hand", ...args], {
    env,
    cwd: "/nowhere",
    pid: 1,
    print: (line) => void lines.push(line),
    printError: () => undefined,
    readInput: () => Promise.resolve(""),
    untilSignal: () => Promise.resolve(),
  });
  return { code, output: lines.join("\n") };
}

it("trunkline setup --by-hand prints the URL that creates the needed App", async () => {
  const { output } = await setup(["--url", "https://t.example.com/", "--org", "acme", "--json"]);
  const url = new URL((JSON.parse(output) as { url: string }).url);
  expect(url.origin + url.pathname).toBe("https://github.com/organizations/acme/settings/apps/new");
  expect(url.searchParams.get("webhook_url")).toBe("https://t.example.com/api/github/webhooks");
  expect(url.searchParams.get("public")).toBe("false");
  expect(url.searchParams.getAll("events[]")).toContain("push");
  for (const [name, level] of Object.entries(NEEDED_PERMISSIONS))
    expect(url.searchParams.get(name)).toBe(level);
});

it("trunkline setup --by-hand uses GHE_HOST and requires a public URL", async () => {
  const { output } = await setup(["--url", "https://t.example.com"], { GHE_HOST: "github.example.com" });
  expect(output).toMatch(/^https:\/\/github\.example\.com\/settings\/apps\/new\?/);
  const { code } = await setup(["--url", "https://t.example.com"], {
    GHE_HOST: "https://github.example.com",
  });
  expect(code).toBe(1);
  expect((await setup([])).code).toBe(2);
  expect((await setup(["--url", "t.example.com"])).code).toBe(2);
});
