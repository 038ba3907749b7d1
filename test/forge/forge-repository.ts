import type { RepositoryOptions } from "../../sandbox/forge/world.ts";
import { cloneRepository, type Clone } from "../support/git.ts";
import type { ForgeApiResponse, TestForge } from "../support/forge/sandbox-forge.ts";

/** A new repository for one test, on a forge that tests share. */
export interface ForgeRepository {
  readonly fullName: string;
  /** `/repos/acme/<name>` */
  readonly path: string;
  /** Calls the API below the repository, as ada unless a token is given. */
  call(method: string, rest: string, body?: unknown, token?: string): Promise<ForgeApiResponse>;
  /** The commit at the head of a branch. */
  tip(branch: string): Promise<string>;
  /** Commits files to a branch, created from main if it is new, without the API. */
  commit(branch: string, files: Readonly<Record<string, string | null>>, message?: string): Promise<string>;
  /** Opens a pull request from a branch and returns its number. */
  open(head: string, more?: object): Promise<number>;
  pull(number: number): Promise<ForgeApiResponse>;
  /** Runs git in the bare repository. */
  git(...args: string[]): Promise<string>;
  /** Clones over HTTP, as ada by default. */
  clone(login?: string): Promise<Clone>;
}

let made = 0;

export async function makeRepository(
  world: TestForge,
  options: RepositoryOptions = {},
): Promise<ForgeRepository> {
  const name = `repo-${(made += 1)}`;
  const fullName = `acme/${name}`;
  const row = await world.forge.createRepository("acme", name, options);
  const repo = world.forge.context.git.repository(row.id);
  const path = `/repos/${fullName}`;
  const call: ForgeRepository["call"] = (method, rest, body, token) =>
    world.api(method, `${path}${rest}`, body, token);
  return {
    fullName,
    path,
    call,
    tip: async (branch) => (await call("GET", `/git/ref/heads/${branch}`)).at("object.sha"),
    commit: (branch, files, message) =>
      world.forge.commit(fullName, branch, files, message === undefined ? {} : { message }),
    async open(head, more = {}) {
      const response = await call("POST", "/pulls", { title: `Land ${head}`, head, base: "main", ...more });
      return response.number("number");
    },
    pull: (number) => call("GET", `/pulls/${number}`),
    git: (...args) => repo.text(args),
    clone: (login = "ada") => cloneRepository(cloneUrl(world, fullName, tokenOf(world, login)), login),
  };
}

export function tokenOf(world: TestForge, login: string): string {
  const user = world.forge.users.find((each) => each.login === login);
  if (user === undefined) throw new Error(`there is no user ${login}`);
  return user.token;
}

export const cloneUrl = (world: TestForge, fullName: string, token: string): string =>
  `${world.forge.cloneUrl.replace("://", `://x-access-token:${token}@`)}/${fullName}.git`;
