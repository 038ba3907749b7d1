import { z } from "zod";
import type { ForgeAccount } from "../values.ts";
import { name } from "./text-shapes.ts";

/** A time in ISO 8601, or null. */
export const time = z.string().nullish().transform(isoTime);

export function isoTime(value: string | number | null | undefined): string | null {
  const at = new Date(value ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** In webhooks and REST responses. */
export const account = z
  .looseObject({
    id: z.int(),
    login: name,
    avatar_url: z.string().nullish(),
    type: z.string().nullish(),
  })
  .transform(({ id, login, avatar_url, type }): ForgeAccount => ({
    forgeId: id,
    login,
    avatarUrl: avatar_url ?? null,
    isBot: type === "Bot",
  }));

/** An account in GraphQL responses, parsed by `graphqlAccount`. */
export const ACCOUNT = /* GraphQL */ `
  fragment Who on Actor {
    kind: __typename
    login
    avatarUrl
    ... on User {
      databaseId
    }
    ... on Bot {
      databaseId
    }
  }
`;

/** GraphQL omits the `[bot]` at the end of a bot's login. */
export const graphqlAccount = z
  .looseObject({
    kind: z.string(),
    login: name,
    avatarUrl: z.string().nullish(),
    databaseId: z.number(),
  })
  .transform(({ kind, login, avatarUrl, databaseId: forgeId }): ForgeAccount => {
    const isBot = kind === "Bot";
    const name = isBot && !login.endsWith("[bot]") ? `${login}[bot]` : login;
    return { forgeId, login: name, avatarUrl: avatarUrl ?? null, isBot };
  })
  .nullable()
  .catch(null);
