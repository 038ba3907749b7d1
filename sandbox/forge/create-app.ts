import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { ForgeContext } from "./context.ts";
import type { AppRow } from "./rows.ts";

/** What a page is sent to make an App (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest). */
export const appManifest = z.looseObject({
  name: z.string().min(1).max(34),
  url: z.url(),
  redirect_url: z.url({ protocol: /^https?$/ }),
  hook_attributes: z.looseObject({ url: z.url(), active: z.boolean().default(true) }).optional(),
  default_permissions: z.record(z.string(), z.enum(["read", "write", "admin"])).default({}),
  default_events: z.array(z.string()).default([]),
});

/** How long a code for an App's secrets is good. */
const CODE_MS = 3_600_000;

/** Makes the one App this forge has what a manifest says, and gives the code for its secrets. Its name stays, which its bot bears. */
export function takeManifest(forge: ForgeContext, manifest: z.infer<typeof appManifest>): string {
  const { hook_attributes: hook, default_permissions: permissions, default_events: events } = manifest;
  for (const { id } of forge.state.apps.all()) forge.state.apps.update(id, { permissions, events });
  if (hook?.active) forge.webhooks.url = hook.url;
  const code = randomBytes(20).toString("hex");
  forge.manifestCodes.set(code, forge.now());
  return code;
}

/** The App a code was given for; none where it is unknown, was used, or is too old. */
export function redeemCode(forge: ForgeContext, code: string): AppRow | undefined {
  const since = forge.manifestCodes.get(code);
  forge.manifestCodes.delete(code);
  if (since === undefined || Date.parse(forge.now()) - Date.parse(since) > CODE_MS) return undefined;
  return forge.state.apps.all()[0];
}
