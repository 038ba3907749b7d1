import { expect } from "@jest/globals";
import type { PickOrder } from "../../../src/forge/releasing.ts";
import type { Adapter, TestRepository } from "../forge/adapter.ts";

export const RELEASE = "release/spring";
export const TEMP = "trunkline/tmp/pick-1";

const LINES = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
/** Eight lines with some changes. */
export const text = (changes: Readonly<Record<number, string>> = {}): string =>
  `${LINES.map((line, index) => changes[index] ?? line).join("\n")}\n`;

/** The result of a successful pick. */
export const picked = {
  ok: true,
  value: expect.objectContaining({ state: "picked", sha: expect.stringMatching(/^[0-9a-f]{40}$/) }),
};

type Change = readonly [files: Record<string, string>, message?: string];

/** A repository with a release branch, created at its first commit. */
export interface PickShop extends TestRepository {
  /** Merges a pull request with these commits into main. */
  land(changes: readonly Change[], how?: "merge" | "squash" | "rebase"): Promise<Landed>;
  /** The arguments to pick pull requests onto the release branch. */
  order(...pullRequests: number[]): Promise<PickOrder>;
  branches(): string[];
}

export interface Landed {
  readonly number: number;
  /** The commit of main after the merge. */
  readonly sha: string;
}

export async function pickShop({ forge, world, newRepository }: Adapter): Promise<PickShop> {
  const shop = await newRepository({ "list.txt": text() });
  const { forgeRef, git } = shop;
  await forge.createBranch(forgeRef, RELEASE, shop.base);
  let landed = 0;
  return {
    ...shop,
    land: async (changes, how = "rebase") => {
      const head = `card/${(landed += 1)}`;
      await forge.createBranch(forgeRef, head, git("rev-parse", "main"));
      for (const [files, message] of changes) await shop.commit(head, files, message);
      const pulls = `/repos/${forgeRef.fullName}/pulls`;
      const opened = await world.api("POST", pulls, { title: "Work", head, base: "main" });
      const number = opened.number("number");
      const merged = await world.api("PUT", `${pulls}/${number}/merge`, { merge_method: how });
      return { number, sha: merged.at("sha") };
    },
    order: async (...pullRequests) => {
      const expectedTip = (await forge.branchHead(forgeRef, RELEASE)) ?? "";
      return { branchName: RELEASE, expectedTip, pullRequests, tempBranch: TEMP };
    },
    branches: () => git("for-each-ref", "--format=%(refname:short)", "refs/heads/").split("\n"),
  };
}
