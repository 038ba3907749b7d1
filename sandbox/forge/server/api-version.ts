import type { Answer } from "./api-error.ts";
import { ApiError } from "./api-error.ts";

const DEFAULT = "2022-11-28";
const NEWEST = "2026-03-10";

/** What GitHub dropped with 2026-03-10, as far as it is served here. */
const REMOVED_FIELDS = new Set([
  "merge_commit_sha",
  "assignee",
  "has_downloads",
  "use_squash_pr_title_as_default",
  "rate",
]);

/** How answers look in the version asked for. https://docs.github.com/en/rest/about-the-rest-api/breaking-changes */
export function selectVersion(asked: string | undefined): (answer: Answer) => Answer {
  const version = asked ?? DEFAULT;
  if (version !== DEFAULT && version !== NEWEST)
    throw new ApiError(
      400,
      `"${version}" is not a supported version of the REST API. Supported versions are: ${DEFAULT}, ${NEWEST}.`,
    );
  return (answer) => ({
    ...answer,
    headers: { ...answer.headers, "x-github-api-version-selected": version },
    body: version === NEWEST ? withoutRemoved(answer.body) : answer.body,
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
