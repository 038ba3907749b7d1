/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
import { pino } from "pino";
import { ProbotOctokit } from "probot";
import { z } from "zod";
import { Problem } from "../../errors.ts";
import { ForgeUnavailable } from "../values.ts";
import { isAppKey, NEEDED_EVENTS, NEEDED_PERMISSIONS, OPTIONAL_PERMISSIONS } from "./app.ts";
import { type CompleteResponse, createTransport, monotonicClock } from "./calls/transport.ts";

export interface CreatedApp {
  readonly id: number;
  /** A PEM. */
  readonly privateKey: string;
  readonly webhookSecret: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly pageUrl: string;
}

/** GitHub sends the browser to `redirectUrl` with a code for the App's secrets. */
export const manifestOf = (app: {
  readonly name: string;
  readonly url: string;
  readonly webhookUrl: string;
  readonly redirectUrl: string;
  /** Where people return to after they sign in. */
  readonly callbackUrl: string;
}) => ({
  name: app.name,
  url: app.url,
  hook_attributes: { url: app.webhookUrl, active: true },
  redirect_url: app.redirectUrl,
  callback_urls: [app.callbackUrl],
  public: false,
  default_permissions: { ...NEEDED_PERMISSIONS, ...OPTIONAL_PERMISSIONS },
  default_events: NEEDED_EVENTS,
});

/** Safe in any settings file without quotes. */
const unquoted = z.string().regex(/^[\w.~+/=-]+$/);

const createdShape = z.looseObject({
  id: z.int().positive(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string().refine(isAppKey),
  webhook_secret: unquoted,
  client_id: unquoted,
  client_secret: unquoted,
});

const REQUEST_TIMEOUT_MS = 12_000;
/** Rate limits, or a proxy in front of an Enterprise Server: the same code may still be valid. */
const TEMPORARY = [403, 408, 429];

/**
 * Exchanges a code, which is valid once and for an hour, for the App's secrets. Throws
 * `ForgeUnavailable` if the same code may be tried again, and `Problem` if not.
 */
export async function redeemManifestCode(apiUrl: string, code: string): Promise<CreatedApp> {
  const octokit = octokitOf(apiUrl);
  let response: unknown;
  try {
    response = (await octokit.rest.apps.createFromManifest({ code })).data;
  } catch (error) {
    throw failureOf(Number(Object(error).status));
  }
  const { success, data } = createdShape.safeParse(response);
  if (!success) {
    throw new Problem(
      "refused",
      "GitHub created the App, but its response has no valid key or secret. Delete the App on its GitHub page, then start again.",
    );
  }
  return {
    id: data.id,
    privateKey: data.pem,
    webhookSecret: data.webhook_secret,
    clientId: data.client_id,
    clientSecret: data.client_secret,
    pageUrl: data.html_url,
  };
}

/** Octokit reports a missing response as status 500. */
function failureOf(status: number): Error {
  if (!(status < 500) || TEMPORARY.includes(status)) {
    return new ForgeUnavailable("GitHub did not respond. Try again: the code is valid for an hour.");
  }
  return new Problem(
    "refused",
    `GitHub does not accept the code for the App's secrets (${status}): it was used before, or is older than an hour. Delete the App on its GitHub page, then start again.`,
  );
}

/** Not authenticated, since there is no App yet. Neither repeats nor logs: the response is secret. */
function octokitOf(baseUrl: string): ProbotOctokit {
  const transport = createTransport({
    baseUrl,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    clock: monotonicClock,
  });
  const about = { account: "nobody", route: "POST /app-manifests/{code}/conversions" };
  const fetch = (url: string, init: RequestInit): Promise<CompleteResponse> => {
    const deadline = monotonicClock.now() + REQUEST_TIMEOUT_MS;
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
