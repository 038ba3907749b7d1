import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { readAll, type ResponseOf, type Input, type ReadRoute } from "./client.ts";
import type { BoardSnapshot } from "./patch-board.ts";
import type { Card, Flow, InboxItem, ListedCard, Project, Repository } from "./schema.d.ts";
import { useWorkspace } from "./workspace.tsx";

export type CardSnapshot = Card & { readonly feedSeq: number };

/** The columns of a project with the details of cards. Live. */
export function useBoard(projectId: string): UseQueryResult<BoardSnapshot> {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const queryKey = keys.board(projectId);
  return useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      for (;;) {
        const { data, feedSeq } = await client.read(
          "GET /v1/board",
          { query: { projectId, include: "details" } },
          signal,
        );
        const shown = queries.getQueryData<BoardSnapshot>(queryKey)?.feedSeq ?? 0;
        // The feed was faster than this read, which would undo its events.
        if ((feedSeq ?? shown) >= shown) return { ...data, feedSeq: feedSeq ?? shown };
      }
    },
  });
}

/** A card. Live. */
export function useCard(number: number): UseQueryResult<CardSnapshot> {
  const { client, keys } = useWorkspace();
  return useQuery({
    queryKey: keys.card(number),
    queryFn: async ({ signal }) => {
      const { data, feedSeq } = await client.read("GET /v1/cards/{number}", { path: { number } }, signal);
      return { ...data, feedSeq: feedSeq ?? 0 };
    },
  });
}

interface ReadOptions<Data> {
  readonly all?: boolean;
  readonly enabled?: boolean;
  readonly staleTime?: number;
  /** After how many milliseconds a response is read again; false if it is final. */
  readonly everyMs?: number | ((data: Data | undefined) => number | false);
}

/**
 * A read of a route whose response does not state its event number. It waits until the feed is open, so that no event is
 * lost between the response and the feed. Give it a key of `keys`, so that the feed keeps it current, or a `staleTime` if
 * the feed does not have all its changes.
 */
export function useRead<R extends ReadRoute>(
  queryKey: readonly unknown[],
  route: R,
  input: Input<R>,
  options: ReadOptions<ResponseOf<R>> = {},
): UseQueryResult<ResponseOf<R>> {
  const { client, feed } = useWorkspace();
  const { all = false, enabled = true, staleTime, everyMs } = options;
  return useQuery<ResponseOf<R>>({
    queryKey,
    queryFn: async ({ signal }) =>
      all ? readAll(client, route, input, signal) : (await client.read(route, input, signal)).data,
    enabled: enabled && feed !== "connecting",
    ...(staleTime !== undefined && { staleTime, refetchOnWindowFocus: true }),
    ...(everyMs && {
      refetchInterval: ({ state }) => (typeof everyMs === "number" ? everyMs : everyMs(state.data)),
    }),
  });
}

/** How often the inbox is read without an event, in milliseconds: time and GitHub's account settings add items, too. */
const INBOX_MS = 60_000;

/** What needs a person in all projects of the board, the newest first. */
export function useInbox(
  everyMs = INBOX_MS,
): Pick<UseQueryResult<readonly InboxItem[]>, "data" | "error" | "refetch"> {
  const { client, keys, feed } = useWorkspace();
  const projects = useProjects();
  const ids = (projects.data ?? []).map(({ id }) => id);
  const { data, error, refetch } = useQuery({
    queryKey: [...keys.inbox, ...ids],
    queryFn: async ({ signal }) => {
      const read = (projectId: string) => readAll(client, "GET /v1/inbox", { query: { projectId } }, signal);
      return joinInboxes(await Promise.all(ids.map(read)));
    },
    enabled: projects.data !== undefined && feed !== "connecting",
    refetchInterval: everyMs,
  });
  return { data, error: error ?? projects.error, refetch };
}

/** A condition of the whole board is in the inbox of each project, and shown once. */
function joinInboxes(inboxes: readonly (readonly InboxItem[])[]): readonly InboxItem[] {
  const items = new Map<string, InboxItem>();
  for (const item of inboxes.flat()) {
    const isOfBoard = item.card === null && item.repository === null && !item.dismissible;
    const key = isOfBoard ? `${item.kind} ${item.detail}` : item.id;
    if (!items.has(key)) items.set(key, item);
  }
  return [...items.values()].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
}

export function useBacklog(projectId: string): UseQueryResult<readonly Card[]> {
  const { keys } = useWorkspace();
  return useRead(keys.backlog(projectId), "GET /v1/backlog", { query: { projectId } }, { all: true });
}

/** The refused cards of a project by number. */
export function useRefusals(projectId: string): ReadonlyMap<number, ListedCard> {
  const { keys } = useWorkspace();
  const { data = [] } = useRead(
    keys.refusals(projectId),
    "GET /v1/cards",
    { query: { projectId, blocked: "1" } },
    { all: true },
  );
  return new Map(data.map((card) => [card.number, card]));
}

/** The stages of a project in their order, with the backlog. Live. */
export function useFlow(projectId: string): UseQueryResult<Flow> {
  const { keys } = useWorkspace();
  return useRead(keys.flow(projectId), "GET /v1/projects/{projectId}/flow", { path: { projectId } });
}

export function useProjects(): UseQueryResult<readonly Project[]> {
  const { keys } = useWorkspace();
  return useRead(keys.list("projects"), "GET /v1/projects", {}, { all: true });
}

export function useRepositories(): UseQueryResult<readonly Repository[]> {
  const { keys } = useWorkspace();
  return useRead(keys.list("repositories"), "GET /v1/repositories", {}, { all: true });
}
