import { ApiProblem, messageOf } from "../../api/problem.ts";
import { signInAddress } from "../../api/session.ts";
import { buttonClass } from "../../components/button.tsx";

/** GitHub's words, or the way to a new sign-in if GitHub no longer accepts the old one. */
export function Refused({ error }: { readonly error: Error }) {
  const isStale = error instanceof ApiProblem && error.body.code === "reauthenticate";
  return (
    <div className="form-problem" role="alert">
      <p dir="auto">{messageOf(error)}</p>
      {isStale && (
        <a
          className={buttonClass("secondary")}
          href={signInAddress(window.location.pathname + window.location.search)}
        >
          Sign in with GitHub again
        </a>
      )}
    </div>
  );
}
