import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useState } from "react";
import { Redirect, Route, Switch, useSearchParams } from "wouter";
import { SESSION_KEY, useSessionQuery, type Session } from "./api/session.ts";
import { addressOfBoard, boardAt, WorkspaceProvider } from "./api/workspace.tsx";
import { ErrorState, Loading } from "./components/states.tsx";
import { NoBoards } from "./shell/no-boards.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";
import { SignedOut } from "./shell/signed-out.tsx";
import { recentBoard } from "./shell/recent-board.ts";

const loadBoard = () => import("./board/board-screen.tsx");
const loadCard = () => import("./card/card-screen.tsx");
const loadInbox = () => import("./inbox/inbox-screen.tsx");
const loadBacklog = () => import("./backlog/backlog-screen.tsx");
const loadReleases = () => import("./releases/releases-screen.tsx");
const loadPages = () => import("./pages/pages-screen.tsx");
const loadTrunk = () => import("./trunk/trunk-screen.tsx");
const loadSettings = () => import("./settings/settings-screen.tsx");
const BoardScreen = lazy(loadBoard);
const CardScreen = lazy(loadCard);
const InboxScreen = lazy(loadInbox);
const BacklogScreen = lazy(loadBacklog);
const ReleasesScreen = lazy(loadReleases);
const ReleaseScreen = lazy(() => import("./releases/release-screen.tsx"));
const PagesScreen = lazy(loadPages);
const TrunkScreen = lazy(loadTrunk);
const SignIn = lazy(() => import("./shell/sign-in.tsx"));
const OperationsScreen = lazy(() => import("./operations/operations-screen.tsx"));
const SettingsScreen = lazy(loadSettings);

const LOADS: Readonly<Record<string, () => Promise<unknown>>> = {
  cards: loadCard,
  inbox: loadInbox,
  backlog: loadBacklog,
  releases: loadReleases,
  pages: loadPages,
  trunk: loadTrunk,
  settings: loadSettings,
};

/** Loads the screen of an address while the session and the board's data are read. */
export function preloadScreen(path: string): void {
  const [, , , screen] = path.split("/");
  const load = screen === undefined ? loadBoard : LOADS[screen];
  // A failure appears when the screen is shown.
  if (path === "/" || path.startsWith("/b/")) load?.().catch(() => undefined);
}

/** All addresses of the console. */
export function App() {
  return (
    <Suspense fallback={<Loading what="Trunkline" />}>
      <Switch>
        <Route path="/sign-in">
          <SignInPage />
        </Route>
        <Route>
          <SignedIn />
        </Route>
      </Switch>
    </Suspense>
  );
}

function SignInPage() {
  const [search] = useSearchParams();
  return <SignIn problem={search.get("problem")} returnTo={search.get("returnTo") ?? "/"} />;
}

function SignedIn() {
  const { data: session, error, refetch } = useSessionQuery();
  const queries = useQueryClient();
  /** Whether the session ended while the page was open. What was typed stays on the page. */
  const [ended, setEnded] = useState(false);
  const [last, setLast] = useState<Session | null>(null);
  if (session && session !== last) {
    setLast(session);
    setEnded(false);
  }
  const onSignedOut = useCallback(() => {
    setEnded(true);
    queries.setQueryData(SESSION_KEY, null);
  }, [queries]);
  if (error && !last) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const shown = session ?? last;
  if (!shown) {
    if (session === undefined) return <Loading what="Trunkline" />;
    return <SignIn problem={null} returnTo={window.location.pathname + window.location.search} />;
  }
  return (
    <>
      <Boards session={shown} onSignedOut={onSignedOut} />
      <SignedOut open={ended || session === null} />
    </>
  );
}

interface BoardsProps {
  readonly session: Session;
  readonly onSignedOut: () => void;
}

function Boards({ session, onSignedOut }: BoardsProps) {
  const first = session.boards.find(({ workspaceId }) => workspaceId === recentBoard()) ?? session.boards[0];
  return (
    <Switch>
      <Route path="/">
        {first ? (
          <Redirect to={`/b/${addressOfBoard(session, first)}`} replace />
        ) : (
          <NoBoards session={session} />
        )}
      </Route>
      <Route path="/operations">
        {session.isOperator ? (
          <Suspense fallback={<Loading what="the operations" />}>
            <OperationsScreen session={session} onSignedOut={onSignedOut} />
          </Suspense>
        ) : (
          <NotFound what="page" />
        )}
      </Route>
      <Route path="/b/:board/*?">
        {({ board: address }) => {
          const board = boardAt(session, address);
          if (!board) return <NotFound what="board" />;
          return (
            <WorkspaceProvider
              key={board.workspaceId}
              session={session}
              board={board}
              onSignedOut={onSignedOut}
            >
              <Shell>
                <Suspense fallback={<Loading what="the page" />}>
                  <Screens />
                </Suspense>
              </Shell>
            </WorkspaceProvider>
          );
        }}
      </Route>
      <Route>
        <NotFound what="page" />
      </Route>
    </Switch>
  );
}

const Screens = () => (
  <Switch>
    <Route path="/b/:board" component={BoardScreen} />
    <Route path="/b/:board/cards/:number">
      {({ number }) =>
        /^\d{1,9}$/.test(number) ? (
          <CardScreen key={number} number={Number(number)} />
        ) : (
          <NotFound what="card" />
        )
      }
    </Route>
    <Route path="/b/:board/inbox" component={InboxScreen} />
    <Route path="/b/:board/backlog" component={BacklogScreen} />
    <Route path="/b/:board/releases" component={ReleasesScreen} />
    <Route path="/b/:board/releases/:id">{({ id }) => <ReleaseScreen key={id} id={id} />}</Route>
    <Route path="/b/:board/pages/:slug?">{({ slug }) => <PagesScreen slug={slug ?? null} />}</Route>
    <Route path="/b/:board/trunk" component={TrunkScreen} />
    <Route path="/b/:board/settings/:section?">
      {({ section }) => <SettingsScreen section={section ?? null} />}
    </Route>
    <Route>
      <NotFound what="page" />
    </Route>
  </Switch>
);
