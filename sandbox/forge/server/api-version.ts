import { ApiError, type ForgeResponse } from "./api-error.ts";

const DEFAULT = "2022-11-28";
const NEWEST = "2026-03-10";

/** Fields that version 2026-03-10 removed and the forge serves. */
const REMOVED_FIELDS = new Set([
  "merge_commit_sha",
  "assignee",
  "has_downloads",
  "use_squash_pr_title_as_default",
  "rate",
]);

/**
 * Returns a function that converts responses to the requested version.
 * https://docs.github.com/en/rest/about-the-rest-api/breaking-changes
 */
export function selectVersion(version = DEFAULT): (response: ForgeResponse) => ForgeResponse {
  if (version !== DEFAULT && version !== NEWEST)
    throw new ApiError(
      400,
      `"${version}" is not a supported version of the REST API. Supported versions are: ${DEFAULT}, ${NEWEST}.`,
    );
  return (response) => ({
    ...response,
    headers: { ...response.headers, "x-github-api-version-selected": version },
    body: version === NEWEST ? withoutRemoved(response.body) : response.body,
  });
}

function withoutRemoved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutRemoved);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !REMOVED_FIELDS.has(name))
      .map(([name, each]) => [name, withoutRemoved(each)]),
  );
}
