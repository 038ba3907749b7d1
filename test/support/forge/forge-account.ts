import { accountByLogin } from "../../../sandbox/forge/world.ts";
import { cloneRepository, type Clone } from "../git.ts";
import type { TestBoard, TestWorld } from "../world.ts";

/** A user or bot for one test, with credentials for the forge. */
export interface ForgeAccount {
  readonly login: string;
  /** GitHub's API as this account; `path` is below the repository `<owner>/web` of a board. */
  call(
    board: TestBoard,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
  clone(board: TestBoard): Promise<Clone>;
}

/** An account with write access to the repositories of these boards: an existing or a new one. */
export function makeForgeAccount(
  { forge }: TestWorld,
  login: string,
  boards: readonly TestBoard[],
  type: "User" | "Bot" = "Bot",
): ForgeAccount {
  const known = forge.users.find((user) => user.login === login);
  const { id, token } = known ?? forge.createUser(login, { type, organizations: {} });
  for (const { owner } of boards) {
    const row = accountByLogin(forge.context, owner);
    forge.context.state.accounts.save({ ...row, members: { ...row.members, [id]: "admin" } });
  }
  return {
    login,
    call: async ({ owner }, method, path, body) => {
      const response = await fetch(`${forge.apiUrl}/repos/${owner}/web${path}`, {
        method,
        headers: { authorization: `token ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
    },
    clone: ({ owner }) => {
      const url = forge.cloneUrl.replace("://", `://${encodeURIComponent(login)}:${token}@`);
      return cloneRepository(`${url}/${owner}/web.git`, login);
    },
  };
}
