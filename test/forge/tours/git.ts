import type { Tour } from "./tour.ts";

const REPO = "/repos/acme/web";

/** Git. */
export const git: Record<string, Tour> = {
  refs: async ({ call, get, mainSha, branch }) => {
    const { name, sha } = await branch();
    const main = await mainSha();
    await get(`${REPO}/git/ref/heads/${name}`);
    await get(`${REPO}/git/matching-refs/heads/work/`);
    await call(404, "GET", `${REPO}/git/ref/heads/nope`);
    await call(422, "POST", `${REPO}/git/refs`, { ref: `refs/heads/${name}`, sha });
    await call(422, "PATCH", `${REPO}/git/refs/heads/${name}`, { sha: main });
    await call(200, "PATCH", `${REPO}/git/refs/heads/${name}`, { sha: main, force: true });
    await call(204, "DELETE", `${REPO}/git/refs/heads/${name}`);
    await call(422, "DELETE", `${REPO}/git/refs/heads/${name}`);
  },
  "commits, trees, blobs and tags": async ({ call, get, mainSha }) => {
    const blob = await call(201, "POST", `${REPO}/git/blobs`, { content: "hello\n", encoding: "utf-8" });
    await get(`${REPO}/git/blobs/${blob.at("sha")}`);
    const main = await mainSha();
    const commit = await get(`${REPO}/git/commits/${main}`);
    await get(`${REPO}/git/trees/${commit.at("tree.sha")}?recursive=1`);
    const entry = { path: "hello.txt", mode: "100644", type: "blob", sha: blob.at("sha") };
    const tree = await call(201, "POST", `${REPO}/git/trees`, {
      base_tree: commit.at("tree.sha"),
      tree: [entry],
    });
    const next = { message: "Say hello", tree: tree.at("sha"), parents: [main] };
    const made = await call(201, "POST", `${REPO}/git/commits`, next);
    const annotated = { tag: "v0.1.0", message: "First", object: made.at("sha"), type: "commit" };
    const tag = await call(201, "POST", `${REPO}/git/tags`, annotated);
    await get(`${REPO}/git/tags/${tag.at("sha")}`);
    await call(201, "POST", `${REPO}/git/refs`, { ref: "refs/tags/v0.1.0", sha: tag.at("sha") });
    await get(`${REPO}/git/ref/tags/v0.1.0`);
    await get(`${REPO}/tags`);
    await call(404, "GET", `${REPO}/git/commits/${"0".repeat(40)}`);
  },
  "history, comparisons and files": async ({ call, get, branch }) => {
    const { name, sha, file } = await branch();
    await get(`${REPO}/commits?per_page=2`);
    await get(`${REPO}/commits/${sha}`);
    await get(`${REPO}/commits/${encodeURIComponent(name)}`);
    await get(`${REPO}/compare/main...${name}`);
    await get(`${REPO}/compare/${name}...main`);
    await get(`${REPO}/contents`);
    await get(`${REPO}/contents/README.md`);
    await get(`${REPO}/contents/src`);
    await call(404, "GET", `${REPO}/contents/nothing.txt`);
    const content = Buffer.from("changed\n").toString("base64");
    const change = { message: "Change it", content, branch: name, sha: file };
    const changed = await call(200, "PUT", `${REPO}/contents/${name}.txt`, change);
    const removal = { message: "Remove it", branch: name, sha: changed.at("content.sha") };
    await call(200, "DELETE", `${REPO}/contents/${name}.txt`, removal);
  },
  "merges of branches": async ({ call, branch, mainSha }) => {
    const [one, other] = [await branch(), await branch()];
    const merge = { base: one.name, head: other.name, commit_message: "Bring it together" };
    await call(201, "POST", `${REPO}/merges`, merge);
    await call(204, "POST", `${REPO}/merges`, merge);
    await call(404, "POST", `${REPO}/merges`, { ...merge, base: "nope" });
    const content = Buffer.from("another\n").toString("base64");
    const main = await mainSha();
    await call(201, "POST", `${REPO}/git/refs`, { ref: "refs/heads/work/clash", sha: main });
    const change = { message: "Add the same file", content, branch: "work/clash" };
    await call(201, "PUT", `${REPO}/contents/${one.name}.txt`, change);
    await call(409, "POST", `${REPO}/merges`, { ...merge, head: "work/clash" });
  },
};
