import { fine, problem, warning, type Finding } from "./finding.ts";

const PUBLIC_URL_TIMEOUT_MS = 5_000;

/** Checks that PUBLIC_URL leads to the service. */
export async function checkAddress(publicUrl: string): Promise<Finding[]> {
  const about = "public url";
  const advice =
    "Check PUBLIC_URL and the reverse proxy. If only this machine cannot reach the URL, run doctor without PUBLIC_URL.";
  try {
    const response = await fetch(`${publicUrl}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(PUBLIC_URL_TIMEOUT_MS),
    });
    const isOurs = response.ok && (await response.text()) === '{"status":"ok"}';
    if (isOurs) return [fine(about, `The service responds at ${publicUrl}.`)];
    const message = `Something other than the service responds at ${publicUrl} (status ${response.status}).`;
    return [problem(about, message, advice)];
  } catch {
    return [problem(about, `Nothing responds at ${publicUrl}.`, advice)];
  }
}

/** The sign-in of people. */
export interface SignInState {
  /** What to set, one sentence for each setting. */
  readonly missing: readonly string[];
  /** Neither the client id nor the client secret is set. */
  readonly isOff: boolean;
}

/** Checks whether people can sign in. A service for programs only needs no console. */
export function checkSignIn({ missing, isOff }: SignInState): Finding {
  if (missing.length === 0) return fine("console", "People can sign in with GitHub.");
  const advice = missing.join(" ");
  if (isOff) return fine("console", `It is off. ${advice}`);
  return warning("console", "Nobody can sign in to the console.", advice);
}
