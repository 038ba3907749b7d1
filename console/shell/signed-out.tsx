import { useLocation, useSearch } from "wouter";
import { signInAddress } from "../api/session.ts";
import { buttonClass } from "../components/button.tsx";
import { Dialog } from "../components/dialog/dialog.tsx";

/** Over the page when the session has ended. What was typed is kept for the return. */
export function SignedOut({ open }: { readonly open: boolean }) {
  const [path] = useLocation();
  const search = useSearch();
  const returnTo = search === "" ? path : `${path}?${search}`;
  return (
    <Dialog
      open={open}
      onOpenChange={() => undefined}
      isFirm
      title="You are signed out"
      description="Your session has ended, or your access was removed. Text that you typed is kept in this tab."
      actions={
        <a className={buttonClass("primary")} href={signInAddress(returnTo)}>
          Sign in with GitHub
        </a>
      }
    >
      {null}
    </Dialog>
  );
}
