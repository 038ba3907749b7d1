import { z } from "zod";
import type { Refusal, RefusalReason } from "../../../flow/refusal.ts";
import { cutMessage } from "../text-shapes.ts";

/**
 * Patterns for GitHub's messages, loose because it documents few and changes them. The order
 * matters, since a ruleset answers with several sentences.
 */
const REASONS: readonly (readonly [RegExp, RefusalReason])[] = [
  [/head branch was modified|head (sha|commit|oid)\b.*(match|changed|modified)/i, "head_moved"],
  [/expected head (sha|oid)|branch was force-pushed/i, "head_moved"],
  [/no commits between/i, "nothing_to_merge"],
  [/required status checks?\b.*\b(failing|failed|failure|errored)\b/i, "checks_failing"],
  [/required status checks?\b/i, "checks_pending"],
  [/required (deployments?|workflows?)\b/i, "checks_pending"],
  [/changes have been requested|changes (were )?requested/i, "changes_requested"],
  [/approving reviews?|reviews? (is|are) required|waiting on code owner review/i, "review_required"],
  [/merge conflict|has conflicts|conflicts (must|with)|not mergeable|can't be rebased/i, "conflicts"],
  [/out[- ]of[- ]date|is behind|not up[- ]to[- ]date/i, "behind_base"],
  [
    /pull request is (already )?closed|closed pull request|pull request (has been|was|is) closed/i,
    "pull_request_closed",
  ],
  [/resource not accessible|not accessible by|was archived|is archived/i, "not_permitted"],
  [
    /installation has been suspended|refusing to allow a github app|without .?workflows.? permission/i,
    "not_permitted",
  ],
  [/repository rule violations|protected branch|branch protection|merge queue/i, "protected"],
  [/not authorized to push|cannot (create|update|delete) (ref|this branch)/i, "protected"],
  [/must not contain merge commits|linear history|resolve.*conversation|conversation.*resol/i, "protected"],
  [/(merge commits|squash merges|rebase merges) are not allowed/i, "protected"],
  [/repository is empty|object does not exist|reference does not exist/i, "branch_missing"],
  [
    /base branch '.*' was not found|head ref must be a branch|branch.* (has been|was) deleted/i,
    "branch_missing",
  ],
  [/^(base|head) (invalid|does not exist)$/im, "branch_missing"],
  [
    /must have (admin|write|push|maintain)\b|forbidden|permission|not permitted|could not resolve to a/i,
    "not_permitted",
  ],
];

/** For unknown messages. GitHub answers 404 also for private repositories without access. */
const REASON_OF_STATUS: Readonly<Record<number, RefusalReason>> = {
  401: "not_permitted",
  403: "not_permitted",
  404: "not_permitted",
  410: "not_permitted",
  451: "not_permitted",
};

/** For answers other than rate limits and 5xx. */
export function refusalOf(status: number, body: unknown): Refusal {
  const message = refusalMessage(body) || `GitHub answered ${status}`;
  const reason = reasonOf(allMessages(body)) ?? REASON_OF_STATUS[status] ?? "unknown";
  const details = detailsOf(message);
  return details === null ? { reason, message } : { reason, message, details };
}

function reasonOf(text: string): RefusalReason | undefined {
  // GraphQL quotes the message of a refused merge. The quoted name of a check may contain any word.
  const merge = text.replaceAll(/failed to merge: "(.*)"/gi, "$1");
  const unquoted = merge.replaceAll(/["“][^"”\n]*["”]/g, '""');
  return REASONS.find(([pattern]) => pattern.test(unquoted))?.[1];
}

/** The merge method that a message forbids. */
const METHODS: readonly (readonly [RegExp, string])[] = [
  [/merge commits are not allowed|must not contain merge commits|linear history/i, "merge"],
  [/squash merges are not allowed/i, "squash"],
  [/rebase merges are not allowed/i, "rebase"],
];

function detailsOf(message: string): Record<string, unknown> | null {
  const checks = [...message.matchAll(/status check ["“]([^"”\n]+)["”]/gi)].map((match) => match[1]);
  const reviews = /at least (\d+) approving review/i.exec(message)?.[1];
  const method = METHODS.find(([pattern]) => pattern.test(message))?.[1];
  const details = {
    ...(checks.length > 0 ? { checks } : {}),
    ...(reviews === undefined ? {} : { requiredReviews: Number(reviews) }),
    ...(method === undefined ? {} : { mergeMethod: method }),
    ...(/\b(was|is) archived\b/i.test(message) ? { connection: "archived" } : {}),
  };
  return Object.keys(details).length === 0 ? null : details;
}

const errorItem = z.union([
  z.string(),
  z.looseObject({
    message: z.string().nullish(),
    field: z.string().nullish(),
    code: z.string().nullish(),
  }),
]);

const refusalBody = z.looseObject({
  message: z.string().nullish(),
  errors: z.union([z.array(errorItem), z.string()]).nullish(),
  /** Of the asynchronous merge. */
  details: z.looseObject({ message: z.string().nullish() }).nullish(),
});

/**
 * GitHub's message verbatim, cut if it is too long: the top `message`, or the listed errors if that
 * is only `Validation Failed`. Empty when there is none.
 */
export const refusalMessage = (body: unknown): string => cutMessage(messageIn(body));

function messageIn(body: unknown): string {
  if (typeof body === "string") return body.startsWith("<") ? "" : body.trim();
  const parsed = refusalBody.safeParse(body);
  if (!parsed.success) return "";
  const { message, errors, details } = parsed.data;
  const listed = typeof errors === "string" ? [errors] : (errors ?? []).map(messageOf).filter(Boolean);
  const isBare = message === undefined || message === null || /^validation failed\.?$/i.test(message);
  if (isBare && listed.length > 0) return listed.join("\n");
  return message ?? details?.message ?? "";
}

/** All messages in the body: some texts appear in one place or another. */
export const allMessages = (body: unknown): string => cutMessage(messagesIn(body));

function messagesIn(body: unknown): string {
  const parsed = refusalBody.safeParse(body);
  if (!parsed.success) return messageIn(body);
  const { message, errors, details } = parsed.data;
  const listed = typeof errors === "string" ? [errors] : (errors ?? []).map(messageOf);
  return [message, details?.message, ...listed].filter(Boolean).join("\n");
}

function messageOf(error: z.infer<typeof errorItem>): string {
  if (typeof error === "string") return error;
  if (error.message) return error.message;
  return [error.field, error.code].filter(Boolean).join(" ");
}
