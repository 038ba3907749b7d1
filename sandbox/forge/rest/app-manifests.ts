import { randomBytes } from "node:crypto";
import { redeemCode } from "../create-app.ts";
import { presentApp } from "../present/installation.ts";
import { notFound } from "../server/api-error.ts";
import { created, route, type RestCall } from "../server/route.ts";

export const appManifestRoutes = [route("POST", "/app-manifests/{code}/conversions", "anyone", convert)];

/** All of an App, its secrets included, for the code its maker's browser was given. */
function convert({ forge, params }: RestCall) {
  const app = redeemCode(forge, params["code"] ?? "");
  if (app === undefined) throw notFound();
  return created({
    ...presentApp(forge, app),
    // Nobody signs in to this forge with it.
    client_secret: randomBytes(20).toString("hex"),
    webhook_secret: app.webhookSecret,
    pem: app.privateKey,
  });
}
