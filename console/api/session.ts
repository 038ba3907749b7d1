import { useQuery } from "@tanstack/react-query";
import { NoResponse, readProblem } from "./problem.ts";

export type Role = "viewer" | "member" | "maintainer";

export interface BoardAccess {
  readonly workspaceId: string;
  readonly name: string;
  readonly slug: string;
  readonly role: Role;
}

/** Who is signed in: `GET /console/session`. */
export interface Session {
  readonly user: {
    readonly id: string;
    readonly login: string;
    readonly name: string;
    readonly avatarUrl: string | null;
    readonly forgeId: number;
  };
  readonly boards: readonly BoardAccess[];
  /** Whether the person sees the operations page. */
  readonly isOperator: boolean;
  readonly version: string;
  readonly isSandbox: boolean;
  readonly forgeUrl: string;
}

export const SESSION_KEY = ["session"] as const;

/** The session; null when nobody is signed in. */
async function readSession(): Promise<Session | null> {
  const response = await fetch("/console/session", { headers: { Accept: "application/json" } }).catch(
    (error: unknown) => {
      throw new NoResponse(error);
    },
  );
  if (response.status === 401) return null;
  if (!response.ok) throw await readProblem(response);
  return (await response.json()) as Session;
}

export const useSessionQuery = () =>
  useQuery({
    queryKey: SESSION_KEY,
    queryFn: readSession,
    staleTime: 60_000,
    refetchOnWindowFocus: "always",
  });

/** Where the sign-in starts. It returns to the page that was open. */
export const signInAddress = (returnTo: string): string =>
  `/console/sign-in?returnTo=${encodeURIComponent(returnTo)}`;

/** Ends the session. The page is then loaded again, which also clears cached data. */
export async function signOut(): Promise<void> {
  const response = await fetch("/console/sign-out", { method: "POST" }).catch((error: unknown) => {
    throw new NoResponse(error);
  });
  if (!response.ok && response.status !== 401) throw await readProblem(response);
  window.location.assign("/sign-in");
}

/** Whether the role `held` is at least `needed`. */
export const hasRole = (held: Role, needed: Role): boolean => RANKS[held] >= RANKS[needed];

const RANKS: Readonly<Record<Role, number>> = { viewer: 0, member: 1, maintainer: 2 };
