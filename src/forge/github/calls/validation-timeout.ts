import { allMessages } from "./refusals.ts";
import type { RawResponse } from "./send-call.ts";

/** GitHub's own check of a request took too long. It has changed nothing, and a repeated call may succeed. */
export const VALIDATION_TIMEOUT =
  /unable to determine if workflow can be created or updated.*time(d )?out|timed out validating/is;

/** Whether a REST response says so. In GraphQL, `refusalOfError` knows. */
export const isValidationTimeout = ({ status, body }: RawResponse): boolean =>
  (status === 403 || status === 422) && VALIDATION_TIMEOUT.test(allMessages(body));
