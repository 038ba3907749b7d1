import { z } from "zod";
import type { ForgeApp, ForgeWebhook } from "../forge.ts";
import { type GitHubClient, shaped } from "./client.ts";
import type { ForgeClock } from "./clock.ts";
import { missingPermissions, NEEDED_EVENTS } from "./permissions.ts";
import { succeeded } from "./repositories.ts";

const appShape = z.looseObject({
  slug: z.string(),
  permissions: z.record(z.string(), z.string()),
  events: z.array(z.string()),
});
const hookShape = z.looseObject({
  url: z.string().nullish(),
  content_type: z.string().nullish(),
  secret: z.string().nullish(),
});

/** What GitHub has of the App. It answers only to the App's own key. */
export async function readApp(client: GitHubClient, clock: ForgeClock): Promise<ForgeApp> {
  const answer = succeeded(await client.as("app").read("GET /app"));
  const { slug, permissions, events } = shaped(appShape, answer);
  const told = Date.parse(String(answer.headers["date"] ?? ""));
  return {
    slug,
    missingPermissions: missingPermissions(permissions),
    missingEvents: NEEDED_EVENTS.filter((event) => !events.includes(event)),
    clockSkewSeconds: Number.isNaN(told) ? null : Math.round((clock.now() - told) / 1_000),
  };
}

/** Where GitHub sends deliveries. It shows that there is a secret, never which. */
export async function readWebhook(client: GitHubClient): Promise<ForgeWebhook> {
  const { url, content_type, secret } = shaped(
    hookShape,
    succeeded(await client.as("app").read("GET /app/hook/config")),
  );
  return { url: url || null, isJson: content_type === "json", hasSecret: Boolean(secret) };
}
