import { signInAddress } from "../api/session.ts";
import { buttonClass } from "../components/button.tsx";
import { Brand } from "./brand.tsx";
import { useTitle } from "./use-title.ts";
import "./sign-in.css";

/** Why a sign-in failed, by the code in the address, and what to do. */
const PROBLEMS: Readonly<Record<string, string>> = {
  cancelled: "You cancelled the sign-in on GitHub. Sign in again when you are ready.",
  expired: "The sign-in took too long. Start it again.",
  wrong_state: "This sign-in was not started in this browser, or it was already used. Start it again here.",
  wrong_issuer:
    "The response did not come from GitHub, so it was refused. If this happens again, contact the operator of this service.",
  not_a_member:
    "Your GitHub account is not a member of any board here, or is registered as an agent, which cannot sign in. Ask a maintainer of the board.",
  forge_unavailable: "GitHub cannot be reached at the moment. Try again in a few minutes.",
  failed:
    "GitHub did not confirm the sign-in. Try again; if it fails again, contact the operator of this service.",
};

interface Props {
  /** The code of the sign-in that failed. */
  readonly problem: string | null;
  readonly returnTo: string;
}

/** The page for everybody who is not signed in. */
export default function SignIn({ problem, returnTo }: Props) {
  useTitle("Sign in");
  return (
    <main className="sign-in">
      <section className="sign-in-panel">
        <Brand />
        <h1>Sign in to your board</h1>
        <p className="sign-in-text">
          Cards own Git branches here. Moving a card creates its branch, opens its pull request, or merges it.
        </p>
        {problem !== null && (
          <p className="sign-in-problem" role="alert">
            {PROBLEMS[problem] ?? PROBLEMS["failed"]}
          </p>
        )}
        <a className={`${buttonClass("primary")} sign-in-button`} href={signInAddress(localPath(returnTo))}>
          Sign in with GitHub
        </a>
      </section>
    </main>
  );
}

/** Only addresses of this console; the service checks it, too. */
const localPath = (path: string): string =>
  /^\/(?![/\\])/.test(path) && !path.startsWith("/sign-in") ? path : "/";
