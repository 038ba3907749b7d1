import { Link } from "wouter";
import { signInAddress } from "../api/session.ts";
import { buttonClass } from "../components/button.tsx";
import { useTitle } from "./use-title.ts";

/** An address that leads nowhere, or to a board that the user is no member of. */
export function NotFound({ what }: { readonly what: "page" | "board" | "card" | "release" }) {
  useTitle("Not found");
  return (
    <div className="state">
      <h1>There is no such {what}</h1>
      <p className="state-text">
        {what === "board"
          ? "It was deleted, or you are not a member of it. Sign in again if a maintainer has invited you."
          : "The address is wrong, or what it showed was deleted."}
      </p>
      <Link href="/" className={buttonClass("primary")}>
        Go to your board
      </Link>
      {what === "board" && (
        <a className={buttonClass()} href={signInAddress(window.location.pathname)}>
          Sign in again
        </a>
      )}
    </div>
  );
}
