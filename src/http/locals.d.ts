import type { Logger } from "pino";
import type { CallLimiter } from "./call-limiter.ts";

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express documents no other way to type `response.locals`
  namespace Express {
    interface Locals {
      /** Identifies the request in its answer and in the log. */
      requestId: string;
      log: Logger;
      limiter: CallLimiter;
      /** The client id of the request's valid API key. */
      clientId: string | undefined;
    }
  }
}
