import {
  acceptPermissions,
  install,
  setGranted,
} from "../../../sandbox/forge/actions/change-installation.ts";
import { applyManifest } from "../../../sandbox/forge/app-manifest.ts";
import { accountByLogin } from "../../../sandbox/forge/world.ts";
import type { Tour } from "./tour.ts";

const REPO = "/repos/acme/web";

/** Accounts and the App. */
export const accounts: Record<string, Tour> = {
  "people, organizations and the service itself": async ({ call, get, graceToken }) => {
    for (const path of [
      "/",
      "/user",
      "/users/ada",
      "/users/trunkline%5Bbot%5D",
      "/orgs/acme",
      "/meta",
      "/rate_limit",
    ])
      await get(path);
    await get("/users/grace", graceToken);
    await call(404, "GET", "/users/nobody");
    await call(401, "GET", "/user", undefined, "ghp_wrong");
  },
  "the App and its installations": async ({ call, get, mainSha, world }) => {
    const jwt = world.appJwt();
    await get("/app", jwt);
    const installations = await get("/app/installations", jwt);
    const path = `/app/installations/${installations.at("0.id")}`;
    for (const each of [path, "/orgs/acme/installation", "/users/acme/installation", `${REPO}/installation`])
      await get(each, jwt);
    const minted = await call(201, "POST", `${path}/access_tokens`, undefined, jwt);
    await get("/installation/repositories", minted.at("token"));
    const narrow = { repositories: ["web"], permissions: { contents: "read" } };
    const narrowed = await call(201, "POST", `${path}/access_tokens`, narrow, jwt);
    await call(
      403,
      "POST",
      `${REPO}/git/refs`,
      { ref: "refs/heads/x", sha: await mainSha() },
      narrowed.at("token"),
    );
    await call(204, "DELETE", "/installation/token", undefined, narrowed.at("token"));
    await call(204, "PUT", `${path}/suspended`, undefined, jwt);
    await call(403, "POST", `${path}/access_tokens`, undefined, jwt);
    await call(204, "DELETE", `${path}/suspended`, undefined, jwt);
  },
  "the App's secrets for a manifest code": async ({ call, world }) => {
    const [app] = world.forge.context.state.apps.all();
    const code = applyManifest(world.forge.context, {
      name: "Trunkline",
      url: "https://trunkline.example.com",
      redirect_url: "http://localhost:3003/made",
      default_permissions: app?.permissions ?? {},
      default_events: [...(app?.events ?? [])],
    });
    const path = `/app-manifests/${code}/conversions`;
    const made = await call(201, "POST", path);
    if (made.at("pem") !== app?.privateKey) throw new Error("the key differs");
    await call(404, "POST", path);
  },
  "the log of webhooks": async ({ call, get, branch, world }) => {
    const jwt = world.appJwt();
    await branch();
    await world.forge.waitUntilIdle();
    await get("/app/hook/config", jwt);
    await call(200, "PATCH", "/app/hook/config", { content_type: "json" }, jwt);
    const deliveries = await get("/app/hook/deliveries?per_page=5", jwt);
    const path = `/app/hook/deliveries/${deliveries.at("0.id")}`;
    await get(path, jwt);
    await call(202, "POST", `${path}/attempts`, undefined, jwt);
  },
  "installations that are created and change": async ({ world }) => {
    const { context } = world.forge;
    const ada = accountByLogin(context, "ada");
    const other = world.forge.createOrganization("umbrella");
    const repository = await world.forge.createRepository("umbrella", "shop");
    const added = await world.forge.createRepository("umbrella", "till");
    const installation = install(context, other, ["shop"], ada);
    setGranted(context, installation, ada, [added], true);
    setGranted(context, installation, ada, [repository], false);
    acceptPermissions(context, installation, ada, { ...installation.permissions, deployments: "read" });
  },
};
