import { expect } from "@jest/globals";
import type { Tour } from "./tour.ts";

const REPO = "/repos/acme/web";

/** Pull requests before their merge. */
export const pullRequests: Record<string, Tour> = {
  "are opened, read and edited": async ({ call, get, branch, openPull }) => {
    const { number, path, name } = await openPull();
    await get(path);
    await get(`${REPO}/pulls?state=all&head=acme:${name}`);
    await get(`${path}/commits`);
    await get(`${path}/files`);
    await get(`${REPO}/issues/${number}`);
    await call(200, "PATCH", path, { title: "Another title", body: "Another text" });
    const base = (await branch()).name;
    await call(200, "PATCH", path, { base });
    await call(200, "PATCH", path, { state: "closed" });
    await call(200, "PATCH", path, { state: "open" });
    await call(200, "PATCH", `${REPO}/issues/${number}`, { title: "A third title" });
    await call(422, "POST", `${REPO}/pulls`, { title: "Again", head: name, base });
    await call(422, "POST", `${REPO}/pulls`, { title: "Nothing", head: "nope", base: "nowhere" });
  },
  "follow their branches": async ({ call, get, branch, openPull }) => {
    const { path, name } = await openPull();
    await branch();
    const main = await branch();
    await call(201, "POST", `${REPO}/merges`, { base: "main", head: main.name });
    await call(202, "PUT", `${path}/update-branch`, {});
    await call(204, "DELETE", `${REPO}/git/refs/heads/${name}`);
    expect((await get(path)).at("state")).toBe("closed");
  },
  "are drafts at first or permanently": async ({ call, get, openPull, world }) => {
    const { path } = await openPull(true);
    const id = (await get(path)).at("node_id");
    const ready = `mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { clientMutationId } }`;
    await world.graphql(ready, { id });
    await world.graphql(ready.replace("markPullRequestReadyForReview", "convertPullRequestToDraft"), { id });
    await call(405, "PUT", `${path}/merge`, {});
  },
  "are reviewed": async ({ call, get, openPull, graceToken }) => {
    const { path } = await openPull();
    await call(201, "POST", `${path}/requested_reviewers`, { reviewers: ["grace"] });
    await get(`${path}/requested_reviewers`);
    await call(200, "DELETE", `${path}/requested_reviewers`, { reviewers: ["grace"] });
    const approved = await call(
      200,
      "POST",
      `${path}/reviews`,
      { event: "APPROVE", body: "Good" },
      graceToken,
    );
    const one = `${path}/reviews/${approved.at("id")}`;
    await get(`${path}/reviews`);
    await get(one);
    await call(200, "PUT", one, { body: "Very good" }, graceToken);
    await call(200, "PUT", `${one}/dismissals`, { message: "Look again" });
    const pending = await call(200, "POST", `${path}/reviews`, { body: "Hm" }, graceToken);
    await call(200, "DELETE", `${path}/reviews/${pending.at("id")}`, undefined, graceToken);
    const second = await call(200, "POST", `${path}/reviews`, { body: "No" }, graceToken);
    await call(
      200,
      "POST",
      `${path}/reviews/${second.at("id")}/events`,
      { event: "REQUEST_CHANGES", body: "No" },
      graceToken,
    );
  },
  "are talked about": async ({ call, get, openPull, world }) => {
    const { number } = await openPull();
    const made = await call(201, "POST", `${REPO}/issues/${number}/comments`, { body: "Hello" });
    const path = `${REPO}/issues/comments/${made.at("id")}`;
    await call(
      201,
      "POST",
      `${REPO}/issues/${number}/comments`,
      { body: "As the App" },
      world.installationToken(),
    );
    await get(`${REPO}/issues/${number}/comments`);
    await get(`${REPO}/issues/comments`);
    await get(path);
    await call(200, "PATCH", path, { body: "Hello again" });
    await call(204, "DELETE", path);
    await call(422, "POST", `${REPO}/issues/${number}/comments`, { body: " " });
  },
};
