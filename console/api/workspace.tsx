import { useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from "react";
import { createClient, type Client } from "./client.ts";
import type { FeedState } from "./feed.ts";
import { keysOf, type Keys } from "./keys.ts";
import { LiveBoard } from "./live.ts";
import { SESSION_KEY, type BoardAccess, type Session } from "./session.ts";

/** The board that is open, and what its screens need. */
export interface Workspace {
  readonly session: Session;
  readonly board: BoardAccess;
  /** The start of the board's addresses, for example `/b/acme`. */
  readonly base: string;
  readonly client: Client;
  readonly keys: Keys;
  readonly feed: FeedState;
}

const WorkspaceContext = createContext<Workspace | null>(null);

/** The open board. Only below `WorkspaceProvider`. */
export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error("useWorkspace is used outside of WorkspaceProvider");
  return workspace;
}

interface Props {
  readonly session: Session;
  readonly board: BoardAccess;
  readonly onSignedOut: () => void;
  readonly children: ReactNode;
}

/** Opens a board: its client, and its feed, which keeps the cached data current. */
export function WorkspaceProvider({ session, board, onSignedOut, children }: Props) {
  const queries = useQueryClient();
  const [feed, setFeed] = useState<FeedState>("connecting");
  const client = useMemo(
    () => createClient(board.workspaceId, onSignedOut),
    [board.workspaceId, onSignedOut],
  );
  const live = useMemo(() => new LiveBoard(client, queries), [client, queries]);
  useEffect(() => {
    const closing = new AbortController();
    void live.follow(setFeed, closing.signal);
    return () => closing.abort();
  }, [live]);
  // The reason may be that the user was removed from this board, but not from others.
  useEffect(() => {
    if (feed === "offline") void queries.invalidateQueries({ queryKey: SESSION_KEY });
  }, [feed, queries]);
  const value = useMemo<Workspace>(
    () => ({
      session,
      board,
      base: `/b/${addressOfBoard(session, board)}`,
      client,
      keys: keysOf(board.workspaceId),
      feed,
    }),
    [session, board, client, live, feed],
  );
  return <WorkspaceContext value={value}>{children}</WorkspaceContext>;
}

/** A board's part of an address: its slug, or its id if another of the user's boards has the same slug. */
export const addressOfBoard = ({ boards }: Session, { slug, workspaceId }: BoardAccess): string =>
  boards.filter((each) => each.slug === slug).length > 1 ? workspaceId : slug;

export const boardAt = (session: Session, address: string): BoardAccess | undefined =>
  session.boards.find((board) => addressOfBoard(session, board) === address || board.workspaceId === address);
