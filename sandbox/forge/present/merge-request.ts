import type { Answer } from "../server/api-error.ts";
import type { MergeRequestRow } from "../rows.ts";

/** Where an asynchronous merge stands; `pendingMessage` is said while it is under way. */
export function presentMergeRequest(
  httpStatus: number,
  row: MergeRequestRow,
  pendingMessage: string,
): Answer {
  return { status: httpStatus, body: { status: row.status, details: detailsOf(row, pendingMessage) } };
}

function detailsOf(row: MergeRequestRow, pendingMessage: string) {
  switch (row.status) {
    case "pending":
      return {
        message: pendingMessage,
        uuid: row.uuid,
        merge_method: row.mergeMethod,
        merge_action: row.mergeAction,
        expected_head_sha: row.expectedHeadSha,
      };
    case "merged":
      return { message: "Pull Request successfully merged", sha: row.sha ?? "" };
    case "enqueued":
      return { message: "Pull request was added to the merge queue." };
    case "failed":
      return { message: row.message ?? "The pull request could not be merged." };
  }
}
