import { z } from "zod";

const errorItem = z.union([
  z.string(),
  z.looseObject({
    message: z.string().nullish(),
    field: z.string().nullish(),
    code: z.string().nullish(),
    resource: z.string().nullish(),
  }),
]);

const refusalBody = z.looseObject({
  message: z.string().nullish(),
  errors: z.union([z.array(errorItem), z.string()]).nullish(),
  /** Where the asynchronous merge puts its words. */
  details: z.looseObject({ message: z.string().nullish() }).nullish(),
});

/**
 * What GitHub says in a refusal, verbatim: the top `message`, unless that is only `Validation Failed`, then the errors below
 * it. Empty when it says nothing.
 */
export function wordsOf(body: unknown): string {
  if (typeof body === "string") return body.startsWith("<") ? "" : body.trim();
  const parsed = refusalBody.safeParse(body);
  if (!parsed.success) return "";
  const { message, errors, details } = parsed.data;
  const listed = typeof errors === "string" ? [errors] : (errors ?? []).map(wordsOfError).filter(Boolean);
  const isBare = message === undefined || message === null || /^validation failed\.?$/i.test(message);
  if (isBare && listed.length > 0) return listed.join("\n");
  return message ?? details?.message ?? "";
}

/** Everything in the body that may tell the reason, beyond the words shown: some wordings come in either place. */
export function allWordsOf(body: unknown): string {
  const parsed = refusalBody.safeParse(body);
  if (!parsed.success) return wordsOf(body);
  const { message, errors, details } = parsed.data;
  const listed = typeof errors === "string" ? [errors] : (errors ?? []).map(wordsOfError);
  return [message, details?.message, ...listed].filter(Boolean).join("\n");
}

function wordsOfError(error: z.infer<typeof errorItem>): string {
  if (typeof error === "string") return error;
  if (error.message) return error.message;
  return [error.field, error.code].filter(Boolean).join(" ");
}
