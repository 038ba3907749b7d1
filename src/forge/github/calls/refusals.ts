import { z } from "zod";
import type { Refusal, RefusalReason } from "../../../flow/refusal.ts";
import { cutMessage } from "../text-shapes.ts";
import { KNOWN_MESSAGES } from "./refusal-messages.ts";

/** For unknown messages. GitHub returns 404 also for private repositories without access. */
const NOT_PERMITTED = [401, 403, 404, 410, 451];

/** For responses other than rate limits and 5xx. */
export function refusalOf(status: number, body: unknown): Refusal {
  const message = refusalMessage(body) || `GitHub returned ${status}`;
  const ofStatus = NOT_PERMITTED.includes(status) ? "not_permitted" : "unknown";
  const reason = reasonOf(allMessages(body)) ?? ofStatus;
  const details = detailsOf(message);
  return details === null ? { reason, message } : { reason, message, details };
}

function reasonOf(text: string): RefusalReason | undefined {
  // GraphQL quotes the message of a refused merge. The quoted name of a check may contain any word.
  const merge = text.replaceAll(/failed to merge: "(.*)"/gi, "$1");
  const unquoted = merge.replaceAll(/["“][^"”\n]*["”]/g, '""');
  return KNOWN_MESSAGES.find(({ pattern }) => pattern.test(unquoted))?.reason;
}

/** The merge method that a message forbids. */
const METHODS: readonly (readonly [RegExp, string])[] = [
  [/merge commits are not allowed|must not contain merge commits|linear history/i, "merge"],
  [/squash merges are not allowed/i, "squash"],
  [/rebase merges are not allowed/i, "rebase"],
];

/** Rules that a message is about, where the reason alone does not say what has to be done. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/code scanning|alerts? blocking this code/i, "code_scanning"],
  [/other than the last pusher/i, "last_push_approval"],
  [/(conversations?|comments) must be resolved/i, "conversations"],
];

function detailsOf(message: string): Record<string, unknown> | null {
  const checks = [...message.matchAll(/status check ["“]([^"”\n]+)["”]/gi)].map((match) => match[1]);
  const reviews = /at least (\d+) approving review/i.exec(message)?.[1];
  const method = METHODS.find(([pattern]) => pattern.test(message))?.[1];
  const rule = RULES.find(([pattern]) => pattern.test(message))?.[1];
  const details = {
    ...(rule === undefined ? {} : { rule }),
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
  const isGeneric = message === undefined || message === null || /^validation failed\.?$/i.test(message);
  if (isGeneric && listed.length > 0) return listed.join("\n");
  return message ?? details?.message ?? "";
}

/** All messages in the body. GitHub puts some texts in `message` and sometimes in `errors`. */
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
