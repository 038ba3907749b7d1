import type { Logger } from "pino";
import type { AuthMethod } from "./authenticate.ts";
import type { CallLimiter } from "./call-limiter.ts";

declare global {
  // oxlint-disable-next-line typescript/no-namespace -- Express documents no other way to type `response.locals`
  namespace Express {
    interface Locals {
      /** Identifies the request in its response and in the log. */
      requestId: string;
      log: Logger;
      limiter: CallLimiter;
      /** How the request says who makes it. */
      authMethod: AuthMethod;
      /** The client id of the request's valid API key or session. */
      clientId: string | undefined;
      /** Logged at the level debug unless it fails. */
      isRoutine: boolean;
    }
  }
}
