import { z } from "zod";
import type { ForgeAccount } from "../forge.ts";
import { type GitHubClient, shaped } from "./client.ts";
import { succeeded } from "./repositories.ts";

const shape = z.looseObject({
  id: z.number(),
  login: z.string(),
  avatar_url: z.string().nullish(),
  type: z.string().nullish(),
});

/** The person or bot with this login; GitHub answers for organizations here, too, and they are nobody. */
export async function readAccount(
  client: GitHubClient,
  login: string,
  installationId: number | null,
): Promise<ForgeAccount | null> {
  const answer = await client
    .as(installationId ?? "nobody")
    .read("GET /users/{username}", { username: login });
  if (answer.status === 404) return null;
  const account = shaped(shape, succeeded(answer));
  if (account.type === "Organization") return null;
  return {
    forgeId: account.id,
    login: account.login,
    avatarUrl: account.avatar_url ?? null,
    isBot: account.type === "Bot",
  };
}
