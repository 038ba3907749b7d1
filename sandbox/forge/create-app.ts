import { randomBytes } from "node:crypto";
import express, { type Request, type Response, Router } from "express";
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
const CODE_LIFETIME_MS = 3_600_000;

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
  if (since === undefined || Date.parse(forge.now()) - Date.parse(since) > CODE_LIFETIME_MS) return undefined;
  return forge.state.apps.all()[0];
}

const PATHS = ["/settings/apps/new", "/organizations/:org/settings/apps/new"];

/** The page where an App is made from a manifest. GitHub asks its reader to agree; here the browser is sent back at once. */
export function serveNewApp(forge: ForgeContext): Router {
  const router = Router();
  router.get(PATHS, (_request, response) => {
    response
      .type("text")
      .send("This forge has its App already. Send a manifest here, and it becomes what that says.\n");
  });
  router.post(PATHS, express.urlencoded({ extended: false }), (request: Request, response: Response) => {
    const { org } = request.params;
    const known =
      typeof org !== "string" || forge.state.accounts.in(org.toLowerCase())[0]?.type === "Organization";
    if (!known) {
      response.status(404).type("text").send("Not Found\n");
      return;
    }
    const manifest = appManifest.safeParse(parseJson(Object(request.body).manifest));
    if (!manifest.success) {
      response.status(422).type("text").send("Invalid GitHub App configuration\n");
      return;
    }
    const back = new URL(manifest.data.redirect_url);
    back.searchParams.set("code", takeManifest(forge, manifest.data));
    if (typeof request.query["state"] === "string") back.searchParams.set("state", request.query["state"]);
    response.redirect(302, back.href);
  });
  return router;
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
