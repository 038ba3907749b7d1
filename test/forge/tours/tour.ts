import type { ForgeApiResponse, TestForge } from "../../support/forge/sandbox-forge.ts";

const REPO = "/repos/acme/web";

/** Calls for a tour through the forge's API. */
export interface Guide {
  readonly world: TestForge;
  readonly graceToken: string;
  /** Calls the API and requires the status. */
  readonly call: (
    status: number,
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ) => Promise<ForgeApiResponse>;
  /** A read with status 200. */
  readonly get: (path: string, token?: string) => Promise<ForgeApiResponse>;
  readonly mainSha: () => Promise<string>;
  /** A branch of acme/web with one commit that adds a file: its name, head and blob. */
  readonly branch: () => Promise<{ readonly name: string; readonly sha: string; readonly file: string }>;
  /** An open pull request of such a branch into main. */
  readonly openPull: (draft?: boolean) => Promise<OpenedPull>;
}

export interface OpenedPull {
  readonly number: number;
  /** `/repos/acme/web/pulls/7` */
  readonly path: string;
  readonly name: string;
  readonly sha: string;
}

/** Calls a part of the API. The recording compares the responses with GitHub's descriptions. */
export type Tour = (guide: Guide) => Promise<void>;

export function makeGuide(world: TestForge): Guide {
  let last = 0;
  const call: Guide["call"] = async (status, method, path, body, token) => {
    const response = await world.api(method, path, body, token);
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response;
  };
  const get: Guide["get"] = (path, token) => call(200, "GET", path, undefined, token);
  const mainSha = async () => (await get(`${REPO}/git/ref/heads/main`)).at("object.sha");
  const branch = async () => {
    const name = `work/${++last}`;
    await call(201, "POST", `${REPO}/git/refs`, { ref: `refs/heads/${name}`, sha: await mainSha() });
    const content = Buffer.from(`${name}\n`).toString("base64");
    const change = { message: `Add ${name}`, content, branch: name };
    const made = await call(201, "PUT", `${REPO}/contents/${name}.txt`, change);
    return { name, sha: made.at("commit.sha"), file: made.at("content.sha") };
  };
  const openPull: Guide["openPull"] = async (draft = false) => {
    const { name, sha } = await branch();
    const given = { title: `Land ${name}`, body: "Please", head: name, base: "main", draft };
    const pull = await call(201, "POST", `${REPO}/pulls`, given);
    return { number: pull.number("number"), path: `${REPO}/pulls/${pull.at("number")}`, name, sha };
  };
  const graceToken = world.forge.users.find((user) => user.login === "grace")?.token ?? "";
  return { world, graceToken, call, get, mainSha, branch, openPull };
}
