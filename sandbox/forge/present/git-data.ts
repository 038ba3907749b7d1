import type { ForgeContext } from "../context.ts";
import { namedNodeId, NODE_PREFIXES } from "../node-id.ts";
import type { RepositoryRow } from "../rows.ts";
import { repositoryUrl } from "./repository.ts";

const refNodeId = (repository: RepositoryRow, name: string): string =>
  namedNodeId(NODE_PREFIXES.ref, repository.id, name);

export function presentRef(
  forge: ForgeContext,
  repository: RepositoryRow,
  ref: { readonly name: string; readonly sha: string; readonly type: string },
) {
  const url = repositoryUrl(forge, repository, "git");
  return {
    ref: ref.name,
    node_id: refNodeId(repository, ref.name),
    url: `${url}/${ref.name}`,
    object: { sha: ref.sha, type: ref.type, url: `${url}/${ref.type}s/${ref.sha}` },
  };
}

interface TreeEntry {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  /** Null unless the entry is a file. */
  readonly size: number | null;
}

export function presentTree(
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
  entries: readonly TreeEntry[],
) {
  const url = repositoryUrl(forge, repository, "git");
  return {
    sha,
    url: `${url}/trees/${sha}`,
    tree: entries.map(({ size, ...entry }) => ({
      ...entry,
      ...(size === null ? {} : { size }),
      url: `${url}/${entry.type}s/${entry.sha}`,
    })),
    truncated: false,
  };
}

export function presentBlob(forge: ForgeContext, repository: RepositoryRow, sha: string, content: Buffer) {
  return {
    sha,
    node_id: namedNodeId("B", repository.id, sha),
    size: content.length,
    url: repositoryUrl(forge, repository, "git", "blobs", sha),
    content: wrapBase64(content.toString("base64")),
    encoding: "base64",
  };
}

export function presentTagObject(
  forge: ForgeContext,
  repository: RepositoryRow,
  tag: {
    readonly sha: string;
    readonly name: string;
    readonly message: string;
    readonly tagger: { readonly name: string; readonly email: string; readonly date: string };
    readonly object: { readonly sha: string; readonly type: string };
  },
) {
  const url = repositoryUrl(forge, repository, "git");
  return {
    node_id: namedNodeId("TA", repository.id, tag.sha),
    sha: tag.sha,
    url: `${url}/tags/${tag.sha}`,
    tagger: tag.tagger,
    object: { ...tag.object, url: `${url}/${tag.object.type}s/${tag.object.sha}` },
    tag: tag.name,
    message: tag.message,
    verification: { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null },
  };
}

/** Base64 in lines of 60 characters, as GitHub sends it. */
export const wrapBase64 = (base64: string): string => base64.replace(/(.{60})(?=.)/g, "$1\n").concat("\n");
