import type { Refusal } from "../../../flow/refusal.ts";
import type { RawResponse } from "./send-call.ts";

/**
 * The permissions that GitHub requires for a refused call, such as `["contents: write"]`. Empty if
 * it names none. GitHub separates alternatives by semicolons
 * (https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api).
 */
export function acceptedPermissions({ status, headers }: Pick<RawResponse, "status" | "headers">): string[] {
  if (status !== 403 && status !== 404) return [];
  const alternatives = String(headers["x-accepted-github-permissions"] ?? "").split(";");
  return alternatives.flatMap((alternative) => {
    const names = alternative.split(",").flatMap((each) => each.trim() || []);
    return names.length === 0 ? [] : [names.map((name) => name.replace("=", ": ")).join(" and ")];
  });
}

/** Adds the permissions to a refusal that is due to a missing one. */
export function withPermissions(
  refusal: Refusal,
  response: Parameters<typeof acceptedPermissions>[0],
): Refusal {
  const permissions = acceptedPermissions(response);
  if (
    permissions.length === 0 ||
    !/not accessible by|without .?workflows.? permission/i.test(refusal.message)
  )
    return refusal;
  return { ...refusal, details: { ...refusal.details, permissions } };
}
