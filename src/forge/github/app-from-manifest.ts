/**
 * The App as a browser makes it from a manifest
 * (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest).
 */
import { pino } from "pino";
import { ProbotOctokit } from "probot";
import { z } from "zod";
import { Problem } from "../../errors.ts";
import { ForgeUnavailable } from "../values.ts";
import { isAppKey } from "./app-key.ts";
import { systemClock } from "./calls/clock.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS } from "./permissions.ts";
import { type Arrived, createTransport } from "./calls/transport.ts";

/** What only this service and the forge know, and where people find the App. */
export interface MadeApp {
  readonly id: number;
  /** A PEM. */
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly pageUrl: string;
}

/** What the forge's page is sent: all that the App is, and where the browser goes with the code for its secrets. */
export const manifestOf = (app: {
  readonly name: string;
  readonly url: string;
  readonly webhookUrl: string;
  readonly redirectUrl: string;
}) => ({
  name: app.name,
  url: app.url,
  hook_attributes: { url: app.webhookUrl, active: true },
  redirect_url: app.redirectUrl,
  public: false,
  default_permissions: NEEDED_PERMISSIONS,
  default_events: NEEDED_EVENTS,
});

const madeShape = z.looseObject({
  id: z.int().positive(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().refine(isAppKey),
  // No character that any reader of settings files would take for more than itself.
  webhook_secret: z.string().regex(/^[\w.~+/=-]+$/),
});

const REQUEST_TIMEOUT_MS = 12_000;
/** GitHub answers these for what another try may mend: too many calls, or a proxy of an Enterprise Server in between. */
const PASSING = [403, 408, 429];

/**
 * Gives a code for the App's secrets, which works once and within an hour. Throws `ForgeUnavailable` where the same code may be
 * tried again, and `Problem` where it is of no use any more.
 */
export async function redeemManifestCode(apiUrl: string, code: string): Promise<MadeApp> {
  const octokit = octokitOf(apiUrl);
  let answer: unknown;
  try {
    answer = (await octokit.rest.apps.createFromManifest({ code })).data;
  } catch (error) {
    throw failureOf(Number(Object(error).status));
  }
  const { success, data } = madeShape.safeParse(answer);
  if (!success) {
    throw new Problem(
      "refused",
      "The forge made the App, but did not answer with its key and secret as expected. Delete the App on its page there, and begin again.",
    );
  }
  return {
    id: data.id,
    privateKey: data.pem,
    webhookSecret: data.webhook_secret,
    pageUrl: data.html_url,
  };
}

/** Octokit gives what did not arrive at all the status 500. */
function failureOf(status: number): Error {
  if (!(status < 500) || PASSING.includes(status)) {
    return new ForgeUnavailable("The forge did not answer, or not now. Its code is good for an hour.");
  }
  return new Problem(
    "refused",
    `The forge does not take the code for the App's secrets (${status}): it was used before, or is older than an hour. Delete the App on its page there, and begin again.`,
  );
}

/** As nobody: there is no App yet to call as. It neither repeats nor logs, for its answer is secret. */
function octokitOf(baseUrl: string): ProbotOctokit {
  const transport = createTransport({
    baseUrl,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    clock: systemClock,
  });
  const about = { account: "nobody", route: "POST /app-manifests/{code}/conversions" };
  const fetch = (url: string, init: RequestInit): Promise<Arrived> => {
    const deadline = systemClock.now() + REQUEST_TIMEOUT_MS;
    return transport.send(url, init, { isRepeatable: false, deadline, about });
  };
  return new ProbotOctokit({
    baseUrl,
    request: { fetch },
    retry: { enabled: false },
    throttle: { enabled: false },
    log: pino({ level: "silent" }),
  });
}
