import { messageOf } from "../api/problem.ts";
import "../components/form.css";

/** Why a change failed, in the service's words. What was typed stays. */
export const Problem = ({ error }: { readonly error: unknown }) =>
  error === null || error === undefined ? null : (
    <p className="form-problem" role="alert">
      Not saved. {messageOf(error)}
    </p>
  );
