import { Link } from "wouter";
import type { Session } from "../api/session.ts";
import { buttonClass } from "../components/button.tsx";
import { Brand } from "./brand.tsx";
import { useTitle } from "./use-title.ts";

/** For an account that is a member of no board. */
export function NoBoards({ session: { user, isOperator } }: { readonly session: Session }) {
  useTitle("No board");
  return (
    <main className="state">
      <Brand />
      <h1>You are not a member of a board yet</h1>
      <p className="state-text">
        You are signed in as <strong>{user.login}</strong>. Ask a maintainer to invite you. If you run this
        service, create a board and open its first sign-in link:
      </p>
      <pre className="mono">
        {`trunkline workspace create --organization <login> --name Web\ntrunkline console-link --workspace <id>`}
      </pre>
      {isOperator && (
        <Link href="/operations" className={buttonClass()}>
          Operations
        </Link>
      )}
    </main>
  );
}
