import type { Request } from "express";
import type { Examine } from "../../actions/doctor/examine.ts";
import type { SignInState } from "../../actions/doctor/check-service.ts";
import { Problem } from "../../errors.ts";
import type { SignInSettings } from "../../actions/sessions/sign-in.ts";

/** Where people return to after they have signed in on GitHub. */
export const CALLBACK_PATH = "/console/callback";

/** The console as this process serves it. */
export interface Console {
  /** Null while settings are missing. */
  readonly signIn: SignInSettings | null;
  /** What to set, for a person who opens the console without it. */
  readonly missing: readonly string[];
  /** Without a trailing slash. */
  readonly publicUrl: () => string;
  /** GitHub's pages. */
  readonly forgeUrl: string;
  readonly isSandbox: boolean;
  /** Of the built pages. */
  readonly pagesFolder: string;
  /** For operators. */
  readonly examine: Examine;
}

/** What an operator sets. */
export interface ConsoleSettings {
  /** Without a trailing slash; null for the address of the sandbox. */
  readonly publicUrl: string | null;
  /** GitHub's pages. */
  readonly forgeUrl: string;
  /** Of the App. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** A session ends when nobody has used it for this time. */
  readonly idleMs: number;
  readonly isSandbox: boolean;
  /** Where the built pages are, unless beside the program. */
  readonly pagesFolder?: string;
}

/** What an operator has to do before people can sign in, one sentence for each setting. */
export function missingSettings(settings: Omit<ConsoleSettings, "idleMs" | "forgeUrl">): string[] {
  const { clientId, clientSecret, isSandbox, publicUrl } = settings;
  const isReachable = isSandbox || /^https:\/\/[^/]+$/.test(publicUrl ?? "");
  return [
    ...(clientId ? [] : ["Set CLIENT_ID to the App's client id, from its settings page."]),
    ...(clientSecret ? [] : ["Set CLIENT_SECRET to a client secret, which you generate on the same page."]),
    ...(isReachable ? [] : ["Set PUBLIC_URL to the service's https URL, without a path."]),
  ];
}

/** Whether people can sign in, for `trunkline doctor` and the operations page. */
export const signInStateOf = (settings: Parameters<typeof missingSettings>[0]): SignInState => ({
  missing: missingSettings(settings),
  isOff: settings.clientId === null && settings.clientSecret === null,
});

/** The settings of sign-ins. Throws `unavailable` while some are missing. */
export function requireSignIn({ signIn, missing }: Pick<Console, "signIn" | "missing">): SignInSettings {
  if (signIn) return signIn;
  throw new Problem("unavailable", `The console is not set up. ${missing.join(" ")}`);
}

/** Browsers accept cookies with `Secure` only over TLS, which the sandbox does not have. */
const isPlain = ({ isSandbox, publicUrl }: Pick<Console, "isSandbox" | "publicUrl">): boolean =>
  isSandbox && publicUrl().startsWith("http:");

type CookieName = "trunkline" | "trunkline-sign-in";

/**
 * The name of a cookie. Browsers accept the prefix only from this host and over TLS, so that another
 * host of the domain cannot set it.
 */
export const cookieName = (console: Pick<Console, "isSandbox" | "publicUrl">, name: CookieName): string =>
  isPlain(console) ? name : `__Host-${name}`;

/** The attributes of the console's cookies. Lax: GitHub's redirect to the console has to send them. */
export const cookieOptions = (console: Pick<Console, "isSandbox" | "publicUrl">) =>
  ({ httpOnly: true, secure: !isPlain(console), sameSite: "lax", path: "/" }) as const;

/** The value of a cookie, undefined if the request has none. */
export function readCookie(request: Request, name: string): string | undefined {
  const pairs = request.headers.cookie?.split("; ") ?? [];
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
