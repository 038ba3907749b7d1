import { describe, expect, it } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const HOOK = resolve(import.meta.dirname, "../../.githooks/commit-msg");

/** The output of the hook for a message, and its exit code. */
function check(message: string): { code: number | null; printed: string } {
  const dir = mkdtempSync(join(tmpdir(), "trunkline-hook-"));
  try {
    const file = join(dir, "COMMIT_EDITMSG");
    writeFileSync(file, message);
    const { status, stderr } = spawnSync(HOOK, [file], { encoding: "utf8" });
    return { code: status, printed: stderr };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

describe("the commit-msg hook", () => {
  it.each([
    "Store the response in the transaction that does the work",
    `Store ${"x".repeat(66)}`,
    "Add a retry\n\nThe body may say anything, end with a period, and have lines of any length.\n",
    "\n# Please enter the commit message.\nRename a look to an inspection\n# On branch main\n",
    'Revert "Store the response of a write in the same transaction as the work that it reports"',
    "Merge branch 'a-branch-whose-name-makes-the-subject-longer-than-72-characters' into main",
    "fixup! store the response.",
    "",
    "# Only comments: git ends the commit.\n# ------------------------ >8 ------------------------\ndiff --git a/x b/x\n",
  ])("accepts %j", (message) => {
    expect(check(message)).toEqual({ code: 0, printed: "" });
  });

  it.each([
    ["store the response", "it must start with an upper-case letter"],
    ["Stored the response", '"Stored" is not in the list of verbs'],
    ["The response is stored", '"The" is not in the list of verbs'],
    ["Store: the response", '"Store:" is not in the list of verbs'],
    ["Store the response.", "it must not end with a period"],
    [`Store ${"x".repeat(67)}`, "it has 73 characters, at most 72 are allowed"],
    ["# A comment\n\nstore the response\n\nStore the response\n", "it must start with an upper-case letter"],
  ])("rejects %j: %s", (message, reason) => {
    const { code, printed } = check(message);
    expect(code).toBe(1);
    expect(printed).toContain(reason);
  });

  it("prints the subject, an example and how to edit the rejected message", () => {
    const { printed } = check("wip\n\nThe body.\n");
    expect(printed).toContain("\n  wip\n");
    expect(printed).toContain("Write an imperative verb, the component and the effect");
    expect(printed).toMatch(/git commit -e -F \/.*COMMIT_EDITMSG\n$/);
  });
});
