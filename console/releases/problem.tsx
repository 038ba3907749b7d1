import { messageOf } from "../api/problem.ts";

/** Why a write of this screen failed, in the words of the service or of GitHub. */
export const Problem = ({ error }: { readonly error: unknown }) =>
  error === null || error === undefined ? null : (
    <p className="release-problem" role="alert" dir="auto">
      {messageOf(error)}
    </p>
  );
