import { z } from "zod";
import type { ForgeAccount } from "../forge.ts";

/** Who did something, as GraphQL tells it. */
export const WHO = /* GraphQL */ `
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

export const who = z
  .looseObject({
    kind: z.string(),
    login: z.string(),
    avatarUrl: z.string().nullish(),
    databaseId: z.number().nullish(),
  })
  .nullish()
  .catch(null);

/** GraphQL leaves out the `[bot]` that GitHub puts behind a bot's login everywhere else. */
export function toAccount(actor: z.infer<typeof who>): ForgeAccount | null {
  if (!actor || actor.databaseId === null || actor.databaseId === undefined) return null;
  const isBot = actor.kind === "Bot";
  const login = isBot && !actor.login.endsWith("[bot]") ? `${actor.login}[bot]` : actor.login;
  return { forgeId: actor.databaseId, login, avatarUrl: actor.avatarUrl ?? null, isBot };
}

export function isoTime(value: string | null | undefined): string | null {
  const at = new Date(value ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
