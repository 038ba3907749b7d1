import { z } from "zod";
import { TransportFailure } from "./transport.ts";

/** An answer as it came in, before anything is made of it. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number | undefined>>;
  readonly body: unknown;
  /** It answers octokit's own request for a token, not ours. */
  readonly isTokenRequest: boolean;
}

const headers = z.record(z.string(), z.union([z.string(), z.number(), z.undefined()])).catch({});

/** Octokit throws what is no success; the throttling plugin and `graphql` throw in their own ways. */
const octokitError = z.looseObject({
  request: z.looseObject({ url: z.string() }).optional().catch(undefined),
  response: z.looseObject({ status: z.number(), headers, data: z.unknown() }),
});
const graphqlError = z.looseObject({
  name: z.literal("GraphqlResponseError"),
  headers,
  response: z.looseObject({ errors: z.unknown() }),
});
const graphqlErrors = z.looseObject({ errors: z.array(z.looseObject({ type: z.string().nullish() })) });

/** The answer inside an error of octokit's, or inside what caused it: a token that could not be renewed. Null when none came. */
export function answerOfError(error: unknown): RawAnswer | null {
  for (const each of withCauses(error)) {
    const answer = answerIn(each);
    if (answer !== null) return answer;
  }
  return null;
}

function answerIn(error: unknown): RawAnswer | null {
  const refused = graphqlError.safeParse(error);
  if (refused.success) {
    return { status: 200, headers: refused.data.headers, body: refused.data.response, isTokenRequest: false };
  }
  const failed = octokitError.safeParse(error);
  if (!failed.success) return null;
  const { request, response } = failed.data;
  const isTokenRequest = request !== undefined && request.url.endsWith("/access_tokens");
  return { status: response.status, headers: response.headers, body: response.data, isTokenRequest };
}

export function transportFailureIn(error: unknown): TransportFailure | null {
  return withCauses(error).find((each) => each instanceof TransportFailure) ?? null;
}

/** Octokit wraps what `fetch` throws, more than once. */
function withCauses(error: unknown): unknown[] {
  const found = [error];
  for (let at = error; at instanceof Error && at.cause !== undefined && found.length < 5; at = at.cause) {
    found.push(at.cause);
  }
  return found;
}

export function isGraphqlLimit(body: unknown): boolean {
  const parsed = graphqlErrors.safeParse(body);
  return parsed.success && parsed.data.errors.some((error) => error.type === "RATE_LIMITED");
}
