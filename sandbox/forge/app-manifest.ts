import { randomBytes } from "node:crypto";
import express, { type Request, type Response, Router } from "express";
import { z } from "zod";
import type { ForgeContext } from "./context.ts";
import type { AppRow } from "./rows.ts";

/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
const appManifest = z.looseObject({
  name: z.string().min(1).max(34),
  url: z.url(),
  redirect_url: z.url({ protocol: /^https?$/ }),
  hook_attributes: z.looseObject({ url: z.url(), active: z.boolean().default(true) }).optional(),
  default_permissions: z.record(z.string(), z.enum(["read", "write", "admin"])).default({}),
  default_events: z.array(z.string()).default([]),
});

const CODE_LIFETIME_MS = 3_600_000;

/**
 * Applies a manifest to the forge's only App and returns the code for its credentials. The name
 * stays, because the bot account is named after it.
 */
export function applyManifest(forge: ForgeContext, manifest: z.infer<typeof appManifest>): string {
  const { hook_attributes: hook, default_permissions: permissions, default_events: events } = manifest;
  for (const { id } of forge.state.apps.all()) forge.state.apps.update(id, { permissions, events });
  if (hook?.active) forge.webhooks.url = hook.url;
  const code = randomBytes(20).toString("hex");
  forge.manifestCodes.set(code, forge.now());
  return code;
}

/** The App of a manifest code; undefined if the code is unknown, used or expired. */
export function redeemCode(forge: ForgeContext, code: string): AppRow | undefined {
  const createdAt = forge.manifestCodes.get(code);
  forge.manifestCodes.delete(code);
  if (createdAt === undefined) return undefined;
  if (Date.parse(forge.now()) - Date.parse(createdAt) > CODE_LIFETIME_MS) return undefined;
  return forge.state.apps.all()[0];
}

const PATHS = ["/settings/apps/new", "/organizations/:org/settings/apps/new"];

/** The page that creates an App from a manifest; unlike GitHub's, without a confirmation. */
export function serveNewApp(forge: ForgeContext): Router {
  const router = Router();
  router.get(PATHS, (_request, response) => {
    response
      .type("text")
      .send("This forge already has its App. POST a manifest to this page to change it.\n");
  });
  router.post(PATHS, express.urlencoded({ extended: false }), (request: Request, response: Response) => {
    const { org } = request.params;
    const isUnknown =
      typeof org === "string" && forge.state.accounts.inGroup(org.toLowerCase())[0]?.type !== "Organization";
    if (isUnknown) {
      response.status(404).type("text").send("Not Found\n");
      return;
    }
    const manifest = appManifest.safeParse(parseJson(Object(request.body).manifest));
    if (!manifest.success) {
      response.status(422).type("text").send("Invalid GitHub App configuration\n");
      return;
    }
    const url = new URL(manifest.data.redirect_url);
    url.searchParams.set("code", applyManifest(forge, manifest.data));
    if (typeof request.query["state"] === "string") url.searchParams.set("state", request.query["state"]);
    response.redirect(302, url.href);
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
