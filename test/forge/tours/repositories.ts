import type { Tour } from "./tour.ts";

const REPO = "/repos/acme/web";

/** Repositories. */
export const repositories: Record<string, Tour> = {
  "are created, changed and deleted": async ({ call, get }) => {
    await get(REPO);
    await get("/orgs/acme/repos");
    await get("/user/repos");
    await get(`${REPO}/collaborators/ada/permission`);
    await call(201, "POST", "/orgs/acme/repos", { name: "fresh", private: true, auto_init: true });
    await call(201, "POST", "/user/repos", { name: "mine" });
    await call(409, "GET", "/repos/ada/mine/git/ref/heads/main");
    await call(200, "PATCH", "/repos/acme/fresh", { description: "New", allow_squash_merge: false });
    await call(200, "PATCH", "/repos/acme/fresh", { name: "fresher" });
    const moved = await call(301, "GET", "/repos/acme/fresh");
    await get(new URL(moved.headers.get("location") ?? "").pathname.replace("/api/v3", ""));
    await call(200, "PATCH", "/repos/acme/fresher", { archived: true });
    await call(200, "PATCH", "/repos/acme/fresher", { archived: false });
    await call(200, "PATCH", "/repos/acme/fresher", { private: false });
    await call(200, "PATCH", "/repos/acme/fresher", { private: true });
    await call(204, "DELETE", "/repos/acme/fresher");
    await call(422, "POST", "/orgs/acme/repos", { name: "web" });
  },
  "have branches, protected or not": async ({ call, get, branch }) => {
    const { name } = await branch();
    await get(`${REPO}/branches`);
    await get(`${REPO}/branches/${encodeURIComponent(name)}`);
    const { name: renamed } = await branch();
    await call(201, "POST", `${REPO}/branches/${encodeURIComponent(renamed)}/rename`, {
      new_name: `${renamed}-renamed`,
    });
    const path = `${REPO}/branches/${encodeURIComponent(name)}/protection`;
    await call(404, "GET", path);
    const wanted = {
      required_status_checks: { strict: true, contexts: ["ci"] },
      enforce_admins: true,
      required_pull_request_reviews: { required_approving_review_count: 1, dismiss_stale_reviews: true },
      restrictions: { users: ["ada"], teams: [], apps: ["trunkline"] },
      required_linear_history: true,
    };
    await call(200, "PUT", path, wanted);
    await get(path);
    await get(`${REPO}/branches/${encodeURIComponent(name)}`);
    await get(`${REPO}/rules/branches/${encodeURIComponent(name)}`);
    await call(204, "DELETE", path);
  },
};
