import type { Tour } from "./tour.ts";

const REPO = "/repos/acme/web";

/** Checks and releases. */
export const checksAndReleases: Record<string, Tour> = {
  statuses: async ({ call, get, branch }) => {
    const { sha } = await branch();
    for (const state of ["pending", "success", "failure", "error"]) {
      await call(201, "POST", `${REPO}/statuses/${sha}`, {
        state,
        context: "ci",
        description: state,
        target_url: "https://ci.test/1",
      });
    }
    await get(`${REPO}/commits/${sha}/status`);
    await get(`${REPO}/commits/${sha}/statuses`);
    await get(`${REPO}/commits/main/status`);
  },
  "check runs and suites": async ({ call, get, branch, openPull }) => {
    const { sha } = await openPull();
    const run = await call(201, "POST", `${REPO}/check-runs`, {
      name: "test",
      head_sha: sha,
      status: "in_progress",
    });
    const path = `${REPO}/check-runs/${run.at("id")}`;
    const annotations = [
      { path: "README.md", start_line: 1, end_line: 1, annotation_level: "warning", message: "Long" },
    ];
    const output = { title: "1 warning", summary: "One line is long", annotations };
    await call(200, "PATCH", path, { status: "completed", conclusion: "failure", output });
    await get(path);
    await get(`${path}/annotations`);
    await get(`${REPO}/commits/${sha}/check-runs`);
    const suites = await get(`${REPO}/commits/${sha}/check-suites`);
    const suite = `${REPO}/check-suites/${suites.at("check_suites.0.id")}`;
    await get(suite);
    await get(`${suite}/check-runs`);
    await call(201, "POST", `${path}/rerequest`);
    await call(201, "POST", `${suite}/rerequest`);
    await call(200, "POST", `${REPO}/check-suites`, { head_sha: sha });
    await call(201, "POST", `${REPO}/check-suites`, { head_sha: (await branch()).sha });
  },
  releases: async ({ call, get }) => {
    const release = { tag_name: "v1.0.0", target_commitish: "main", name: "One", body: "Finally" };
    const made = await call(201, "POST", `${REPO}/releases`, release);
    await call(422, "POST", `${REPO}/releases`, release);
    const path = `${REPO}/releases/${made.at("id")}`;
    await get(`${REPO}/releases`);
    await get(`${REPO}/releases/latest`);
    await get(`${REPO}/releases/tags/v1.0.0`);
    await get(path);
    await call(200, "PATCH", path, { body: "At last" });
    const draft = await call(201, "POST", `${REPO}/releases`, {
      tag_name: "v1.1.0-rc.1",
      draft: true,
      prerelease: true,
    });
    await call(200, "PATCH", `${REPO}/releases/${draft.at("id")}`, { draft: false });
    await call(204, "DELETE", path);
    await call(404, "GET", `${REPO}/releases/tags/v1.0.0`);
  },
};
