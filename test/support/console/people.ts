import { randomBytes } from "node:crypto";
import { addMember } from "../../../src/actions/members/forge-accounts.ts";
import type { Role } from "../../../src/flow/roles.ts";
import { makeApi, type Api } from "../api.ts";
import type { TestBoard, TestWorld } from "../world.ts";
import { Browser } from "./browser.ts";

/** A person who is signed in to the console. */
export interface Person {
  readonly login: string;
  readonly forgeId: number;
  readonly browser: Browser;
  /** The routes of `/v1` with the person's session. */
  readonly api: Api;
}

/** The cookie of a session in the sandbox. */
export const COOKIE = "trunkline";

/** A new account on the forge, which is a member of the boards. */
export async function newMember(
  {
    forge,
    service,
  }: { readonly forge: TestWorld["forge"]; readonly service: Pick<TestWorld["service"], "deps"> },
  boards: readonly TestBoard[],
  role: Role = "member",
): Promise<{ readonly login: string; readonly id: number }> {
  const organizations = Object.fromEntries(boards.map(({ owner }) => [owner, "member" as const]));
  const { login, id } = forge.createUser(`person-${randomBytes(5).toString("hex")}`, { organizations });
  for (const { workspaceId } of boards) await addMember(service.deps, { workspaceId, login, role });
  return { login, id };
}

/** A new member of the boards, signed in. */
export async function signedIn(world: TestWorld, boards: readonly TestBoard[], role?: Role): Promise<Person> {
  const { login, id } = await newMember(world, boards, role);
  const browser = new Browser(world.service.baseUrl);
  await browser.signIn(login);
  return { login, forgeId: id, browser, api: apiOf(browser) };
}

/** The routes of `/v1` as the console's pages call them. */
export function apiOf({ baseUrl, cookies }: Browser): Api {
  const cookie = cookies.get(COOKIE) ?? "";
  const headers = { cookie: `${COOKIE}=${cookie}`, "sec-fetch-site": "same-origin" };
  return makeApi(baseUrl, cookie, { prefix: "/console", headers });
}

/** The public part of a session's cookie. */
export const sessionIdOf = ({ cookies }: Browser): string => cookies.get(COOKIE)?.split("_")[1] ?? "";
