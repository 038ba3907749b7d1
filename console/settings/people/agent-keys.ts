import type { UseQueryResult } from "@tanstack/react-query";
import { useRead } from "../../api/reads.ts";
import type { Agent, ApiKey } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { LIST_OPTIONS } from "./list-options.ts";

/** The API keys of the board: all of them for maintainers, their own for members. */
export function useApiKeys(): UseQueryResult<readonly ApiKey[]> {
  const { keys } = useWorkspace();
  return useRead(keys.people("keys"), "GET /console/v1/credentials", {}, LIST_OPTIONS);
}

/** The agents of the board, which only maintainers may read. */
export function useAgents(): UseQueryResult<readonly Agent[]> {
  const { board, keys } = useWorkspace();
  return useRead(
    keys.people("agents"),
    "GET /console/v1/agents",
    {},
    { ...LIST_OPTIONS, enabled: hasRole(board.role, "maintainer") },
  );
}

/** A key belongs to the agent whose login is its name. GitHub ignores the case of logins. */
export const isKeyOf = ({ login }: Pick<Agent, "login">, { name }: Pick<ApiKey, "name">): boolean =>
  name.toLowerCase() === login.toLowerCase();

export const isPast = (at: string | null): boolean => at !== null && Date.parse(at) <= Date.now();

/** Whether calls with the key are accepted. */
export const isActive = ({ revokedAt, expiresAt }: ApiKey): boolean =>
  revokedAt === null && !isPast(expiresAt);

/** Where the keys of an agent are, and where one is issued for it. */
export const KEYS_PATH = "/settings/keys";
export const keysOfAgent = (login: string) => ({ agent: login });
export const newKeyOfAgent = (login: string) => ({ agent: login, new: "key" });
