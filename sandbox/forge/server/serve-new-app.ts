import express, { type Request, type Response, Router } from "express";
import { appManifest, takeManifest } from "../create-app.ts";
import type { ForgeContext } from "../context.ts";

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
    const manifest = appManifest.safeParse(parsed(Object(request.body).manifest));
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

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
