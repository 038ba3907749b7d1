import type { Refusal } from "../../../flow/refusal.ts";

/** Permissions by name: `read`, `write` or `admin`. */
export type Permissions = Readonly<Record<string, string>>;

type Headers = Readonly<Record<string, string | number | undefined>>;

interface Response {
  readonly status: number;
  readonly headers: Headers;
}

/** The alternatives of a header such as `contents=write,workflows=write; administration=write`. */
const alternativesIn = (headers: Headers): string[][] =>
  String(headers["x-accepted-github-permissions"] ?? "")
    .split(";")
    .map((alternative) => alternative.split(",").flatMap((each) => each.trim() || []))
    .filter((names) => names.length > 0);

const LEVELS = ["read", "write", "admin"];

/**
 * The permissions that GitHub requires for a refused call, such as `["contents: write"]`. Empty if
 * it names none. GitHub separates alternatives by semicolons
 * (https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api).
 */
export function acceptedPermissions({ status, headers }: Response): string[] {
  if (status !== 403 && status !== 404) return [];
  return alternativesIn(headers).map((names) => names.map((name) => name.replace("=", ": ")).join(" and "));
}

/**
 * The permissions that a call requires and the installation's token lacks. GitHub returns 404 to
 * some calls that lack one. Empty if GitHub does not say.
 */
export function lackedPermissions(headers: Headers, ofToken: Permissions): readonly string[] {
  // Without them, GitHub has not named the token's permissions.
  if (Object.keys(ofToken).length === 0) return [];
  const granted = { metadata: "read", ...ofToken };
  const alternatives = alternativesIn(headers);
  const lacked = alternatives.map((names) => names.filter((each) => !isGranted(each, granted)));
  return lacked.toSorted((a, b) => a.length - b.length)[0]?.map((name) => name.replace("=", ": ")) ?? [];
}

/** Whether an installation grants something that its token, which may be older, lacks. */
export const hasMorePermissions = (granted: Permissions, ofToken: Permissions): boolean =>
  Object.entries(granted).some(([name, level]) => !isGranted(`${name}=${level}`, ofToken));

function isGranted(accepted: string, granted: Permissions): boolean {
  const [name = "", level = ""] = accepted.split("=");
  return LEVELS.indexOf(granted[name] ?? "") >= LEVELS.indexOf(level);
}

/** Adds the permissions to a refusal that is due to a missing one. */
export function withPermissions(refusal: Refusal, response: Response): Refusal {
  const permissions = acceptedPermissions(response);
  if (
    permissions.length === 0 ||
    !/not accessible by|without .?workflows.? permission|lacks the permission/i.test(refusal.message)
  )
    return refusal;
  return { ...refusal, details: { ...refusal.details, permissions } };
}
