import { expect } from "@jest/globals";
import type { Tour } from "./tour.ts";

const REPO = "/repos/acme/web";

/** Ways to merge pull requests, and refusals. */
export const merges: Record<string, Tour> = {
  "are merged, synchronously or asynchronously": async ({ call, get, openPull, world }) => {
    for (const merge_method of ["merge", "squash", "rebase"]) {
      const { path, sha } = await openPull();
      await call(404, "GET", `${path}/merge`);
      await call(409, "PUT", `${path}/merge`, { sha: "1".repeat(40) });
      await call(200, "PUT", `${path}/merge`, { sha, merge_method });
      await call(204, "GET", `${path}/merge`);
      await get(path);
      await get(`${REPO}/commits/${sha}/pulls`);
    }
    const { path, sha } = await openPull();
    const order = { sha, merge_method: "squash" };
    const accepted = await call(202, "PUT", `${path}/merge-async`, order);
    await world.forge.waitUntilIdle();
    const polled = await get(`${path}/merge-async/${accepted.at("details.uuid")}`);
    expect(polled.at("status")).toBe("merged");
    await call(200, "PUT", `${path}/merge-async`, order);
    await call(404, "GET", `${path}/merge-async/nope`);
  },
  "wait, conflict, or are refused": async ({ call, get, openPull, world }) => {
    world.forge.context.settings.asyncMergeDelayMs = 200;
    const { path, sha } = await openPull();
    const accepted = await call(202, "PUT", `${path}/merge-async`, { sha });
    await get(`${path}/merge-async/${accepted.at("details.uuid")}`);
    await call(409, "PUT", `${path}/merge-async`, { sha });
    await world.forge.waitUntilIdle();
    world.forge.context.settings.asyncMergeDelayMs = 0;
    const { path: closed } = await openPull();
    await call(200, "PATCH", closed, { state: "closed" });
    await call(400, "PUT", `${closed}/merge-async`, {});
    const { path: stale } = await openPull();
    await call(400, "PUT", `${stale}/merge-async`, { sha: "1".repeat(40) });
  },
  "enter a merge queue and merge automatically": async ({ call, get, openPull, world }) => {
    const { path, name } = await openPull();
    const { context } = world.forge;
    const repositoryId = world.forge.repository("acme/web").id;
    context.state.repositories.update(repositoryId, { allowAutoMerge: true });
    const protection = {
      required_status_checks: { strict: false, contexts: ["ci"] },
      enforce_admins: null,
      required_pull_request_reviews: null,
      restrictions: null,
    };
    await call(200, "PUT", `${REPO}/branches/main/protection`, protection);
    const id = (await get(path)).at("node_id");
    const act = (field: string, key = "pullRequestId") =>
      world.graphql(`mutation ($id: ID!) { ${field}(input: { ${key}: $id }) { clientMutationId } }`, { id });
    await act("enablePullRequestAutoMerge");
    await get(path);
    await act("disablePullRequestAutoMerge");
    const [row] = context.state.protections.inGroup(repositoryId);
    context.state.protections.update(row!.id, { mergeQueue: true });
    await get(`${REPO}/rules/branches/main`);
    await act("enqueuePullRequest");
    await call(200, "PUT", `${path}/merge-async`, {});
    await act("dequeuePullRequest", "id");
    await call(405, "PUT", `${path}/merge`, {});
    const signatures = `${REPO}/branches/main/protection/required_signatures`;
    await call(200, "POST", signatures);
    await get(signatures);
    await get(`${REPO}/branches/main/protection`);
    await call(204, "DELETE", signatures);
    world.forge.webUi.requireSignatures("acme/web", "main");
    const requiredReviews = { count: 1, requiresLastPushApproval: true, requiresResolvedThreads: true };
    world.forge.webUi.setRuleset("acme/web", "main", "main", {
      requiredChecks: [{ context: "ci", appId: 1 }],
      requiredReviews,
    });
    const [ruleset] = world.forge.context.state.rulesets.all();
    await get(`${REPO}/rulesets/${ruleset?.id}`);
    await get(`${REPO}/rules/branches/main`);
    await call(204, "DELETE", `${REPO}/branches/main/protection`);
    expect(name).toMatch(/^work/);
  },
};
