import { addMember } from "../../../src/actions/members/forge-accounts.ts";
import type { Role } from "../../../src/flow/roles.ts";
import {
  startWorld,
  type BoardOptions,
  type TestBoard,
  type TestWorld,
  type WorldOptions,
} from "../../support/world.ts";
import { startBrowser, visit, type Visitor, type VisitorOptions } from "./browser.ts";

/** A service with its sandbox forge, and a browser. */
export interface ConsoleWorld {
  readonly world: TestWorld;
  /** Creates a board; `ada` and `grace` are the logins that belong to it. */
  board(
    options?: BoardOptions,
  ): Promise<TestBoard & { readonly logins: Readonly<Record<"ada" | "grace", string>> }>;
  /** Opens a browser profile that nobody is signed in to. */
  visit(options?: VisitorOptions): Promise<Visitor>;
  /** Adds an account to the board and signs in by clicking, as a person does. The board is open afterwards. */
  signIn(board: TestBoard, person?: "ada" | "grace", options?: SignInOptions): Promise<Visitor>;
  stop(): Promise<void>;
}

interface SignInOptions extends VisitorOptions {
  readonly role?: Role;
  /** Where the person wants to go, by default to the board. */
  readonly path?: string;
}

export async function startConsole(options: WorldOptions = {}): Promise<ConsoleWorld> {
  const [world, browser] = await Promise.all([startWorld(options), startBrowser()]);
  const loginOf = (board: TestBoard, person: string): string =>
    `${person}-${board.owner.slice("org-".length)}`;
  const open = (options: VisitorOptions = {}): Promise<Visitor> =>
    visit(browser, world.service.baseUrl, { ...options, allowedHosts: [new URL(world.forge.rootUrl).host] });
  return {
    world,
    board: async (options) => {
      const board = await world.board(options);
      return { ...board, logins: { ada: loginOf(board, "ada"), grace: loginOf(board, "grace") } };
    },
    visit: open,
    signIn: async (board, person = "ada", { role = "member", path = "/", ...options } = {}) => {
      const login = loginOf(board, person);
      await addMember(world.service.deps, { workspaceId: board.workspaceId, login, role });
      const visitor = await open(options);
      await visitor.page.goto(path);
      await visitor.page.getByRole("link", { name: "Sign in with GitHub" }).click();
      await visitor.page.getByRole("button", { name: `Sign in as ${login}` }).click();
      await visitor.page.getByRole("navigation", { name: "Screens" }).waitFor();
      return visitor;
    },
    stop: async () => {
      await browser.close();
      await world.stop();
    },
  };
}
