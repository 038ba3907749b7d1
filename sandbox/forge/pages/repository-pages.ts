import { html, type Html } from "../../../src/http/reference/html.ts";
import type { ForgeContext } from "../context.ts";
import { readCommit } from "../git/commits.ts";
import { listRefs } from "../git/refs.ts";
import { resolveCommit } from "../git/resolve.ts";
import { listTree } from "../git/tree.ts";
import { fullNameOf } from "../present/repository.ts";
import type { PullRequestRow, RepositoryRow } from "../rows.ts";
import { checks, commitLink } from "./commit-pages.ts";
import { facts, link, list, plainText, type Page } from "./layout.ts";

const BRANCHES = "refs/heads/";

const pullLink = (forge: ForgeContext, repository: RepositoryRow, { number, title }: PullRequestRow): Html =>
  link(forge, repository, `#${number} ${title}`, "pull", number);

const branchLink = (forge: ForgeContext, repository: RepositoryRow, name: string): Html =>
  html`<code>${link(forge, repository, name, "tree", name)}</code>`;

export async function repositoryPage(forge: ForgeContext, repository: RepositoryRow): Promise<Page> {
  const refs = await listRefs(forge.git.repository(repository.id), BRANCHES);
  const open = forge.state.pullRequests.inGroup(repository.id).filter(({ state }) => state === "open");
  return {
    title: fullNameOf(forge, repository),
    content: html`${facts({
        Description: repository.description,
        "Default branch": branchLink(forge, repository, repository.defaultBranch),
        State: repository.archived && "archived",
      })}
      <h2>Open pull requests</h2>
      ${list(
        open.map((pull) => pullLink(forge, repository, pull)),
        "No open pull requests.",
      )}
      <h2>Branches</h2>
      ${list(
        refs.map(({ name }) => branchLink(forge, repository, name.slice(BRANCHES.length))),
        "No branches.",
      )}`,
  };
}

const stateOf = ({ state, draft, mergedAt }: PullRequestRow): string =>
  mergedAt !== null ? "merged" : state === "open" && draft ? "draft" : state;

export function pullRequestPage(forge: ForgeContext, repository: RepositoryRow, number: number): Page | null {
  const pull = forge.state.pullRequests.inGroup(repository.id).find((each) => each.number === number);
  if (pull === undefined) return null;
  const loginOf = (id: number): string => forge.state.accounts.need(id).login;
  const reviews = forge.state.reviews.inGroup(pull.id).filter(({ state }) => state !== "PENDING");
  return {
    title: `${pull.title} #${number}`,
    content: html`${facts({
        Repository: link(forge, repository, fullNameOf(forge, repository)),
        State: stateOf(pull),
        Author: loginOf(pull.userId),
        From: branchLink(forge, repository, pull.headRef),
        Into: branchLink(forge, repository, pull.baseRef),
        Head: html`<code>${link(forge, repository, pull.headSha.slice(0, 7), "commit", pull.headSha)}</code>`,
      })}
      <h2>Description</h2>
      ${plainText(pull.body)}
      <h2>Checks</h2>
      ${checks(forge, repository, pull.headSha)}
      <h2>Reviews</h2>
      ${list(
        reviews.map(
          ({ id, userId, state, body }) =>
            html`<span id="pullrequestreview-${id}">${loginOf(userId)}: ${state} ${body}</span>`,
        ),
        "No reviews.",
      )}
      <h2>Comments</h2>
      ${list(
        forge.state.comments
          .inGroup(pull.id)
          .map(
            ({ id, userId, body }) =>
              html`<div id="issuecomment-${id}">${loginOf(userId)}:${plainText(body)}</div>`,
          ),
        "No comments.",
      )}`,
  };
}

/** A folder or file. `path` starts with a branch, tag or hash, which may contain slashes. */
export async function contentPage(
  forge: ForgeContext,
  repository: RepositoryRow,
  path: readonly string[],
): Promise<Page | null> {
  const repo = forge.git.repository(repository.id);
  for (let length = path.length; length > 0; length -= 1) {
    const ref = path.slice(0, length).join("/");
    const commit = await readCommit(repo, (await resolveCommit(repo, ref)) ?? "");
    if (commit === null) continue;
    const below = path.slice(length);
    const object = await repo.objects.read(`${commit.sha}:${below.join("/")}`);
    if (object === null) return null;
    const items = object.type === "tree" ? await listTree(repo, object.sha, false) : null;
    return {
      title: [ref, ...below].join("/"),
      content: html`${facts({
        Repository: link(forge, repository, fullNameOf(forge, repository)),
        Commit: commitLink(forge, repository, commit),
      })}${
        items === null
          ? plainText(object.content.toString("utf8"))
          : list(
              items.map(({ path: name, type }) =>
                link(forge, repository, name, type === "tree" ? "tree" : "blob", ref, ...below, name),
              ),
              "No files.",
            )
      }`,
    };
  }
  return null;
}

export function releasePage(forge: ForgeContext, repository: RepositoryRow, tag: string): Page | null {
  const release = forge.state.releases.inGroup(repository.id).find(({ tagName }) => tagName === tag);
  if (release === undefined) return null;
  return {
    title: release.name ?? tag,
    content: html`${facts({
      Repository: link(forge, repository, fullNameOf(forge, repository)),
      Tag: link(forge, repository, tag, "tree", tag),
      State: release.draft ? "draft" : release.prerelease ? "prerelease" : "published",
    })}${plainText(release.body)}`,
  };
}

export function queuePage(forge: ForgeContext, repository: RepositoryRow, branch: string): Page {
  const queued = forge.state.pullRequests
    .inGroup(repository.id)
    .filter(({ baseRef, queuedAt }) => baseRef === branch && queuedAt !== null);
  return {
    title: `Merge queue of ${branch}`,
    content: html`${facts({ Repository: link(forge, repository, fullNameOf(forge, repository)) })}${list(
      queued.map((pull) => pullLink(forge, repository, pull)),
      "No pull requests.",
    )}`,
  };
}
