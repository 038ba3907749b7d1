import type { ForgeContext } from "../context.ts";
import { namedNodeId, NODE_PREFIXES, nodeId } from "../node-id.ts";
import type { ReleaseRow, RepositoryRow } from "../rows.ts";
import { presentAccountById } from "./account.ts";
import { repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

export function presentRelease(forge: ForgeContext, repository: RepositoryRow, release: ReleaseRow) {
  const url = repositoryUrl(forge, repository, "releases", release.id);
  const tag = encodeURIComponent(release.tagName);
  return {
    url,
    html_url: repositoryHtmlUrl(forge, repository, "releases", "tag", tag),
    assets_url: `${url}/assets`,
    upload_url: `${url}/assets{?name,label}`,
    tarball_url: release.draft ? null : repositoryUrl(forge, repository, "tarball", tag),
    zipball_url: release.draft ? null : repositoryUrl(forge, repository, "zipball", tag),
    id: release.id,
    node_id: nodeId(NODE_PREFIXES.release, release.id),
    tag_name: release.tagName,
    target_commitish: release.targetCommitish,
    name: release.name,
    body: release.body,
    draft: release.draft,
    prerelease: release.prerelease,
    immutable: release.immutable,
    created_at: release.createdAt,
    updated_at: release.publishedAt ?? release.createdAt,
    published_at: release.publishedAt,
    author: presentAccountById(forge, release.authorId),
    assets: [],
  };
}

/** A tag with its commit. */
export function presentTag(forge: ForgeContext, repository: RepositoryRow, name: string, sha: string) {
  return {
    name,
    zipball_url: repositoryUrl(forge, repository, "zipball", "refs", "tags", name),
    tarball_url: repositoryUrl(forge, repository, "tarball", "refs", "tags", name),
    commit: { sha, url: repositoryUrl(forge, repository, "commits", sha) },
    node_id: namedNodeId(NODE_PREFIXES.ref, repository.id, `refs/tags/${name}`),
  };
}
