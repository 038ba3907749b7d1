import type { ForgeContext } from "../context.ts";
import type { RepositoryRow } from "../rows.ts";
import { inLines } from "./git-data.ts";
import { repositoryHtmlUrl, repositoryUrl } from "./repository.ts";

export interface Content {
  readonly path: string;
  readonly sha: string;
  readonly size: number;
  readonly type: "file" | "dir" | "submodule";
  /** Given where one file was asked for. */
  readonly content: Buffer | null;
}

/** A file or folder on a branch. */
export function presentContent(forge: ForgeContext, repository: RepositoryRow, item: Content, ref: string) {
  const path = item.path.split("/").map(encodeURIComponent).join("/");
  const url = `${repositoryUrl(forge, repository, "contents", path)}?ref=${encodeURIComponent(ref)}`;
  const kind = item.type === "dir" ? "tree" : "blob";
  const git = repositoryUrl(forge, repository, "git", `${kind}s`, item.sha);
  const html = repositoryHtmlUrl(forge, repository, kind, ref, path);
  return {
    name: item.path.split("/").at(-1) ?? "",
    path: item.path,
    sha: item.sha,
    size: item.size,
    url,
    html_url: html,
    git_url: git,
    download_url: item.type === "file" ? repositoryHtmlUrl(forge, repository, "raw", ref, path) : null,
    type: item.type,
    ...(item.content === null
      ? {}
      : { content: inLines(item.content.toString("base64")), encoding: "base64" }),
    _links: { self: url, git, html },
  };
}
