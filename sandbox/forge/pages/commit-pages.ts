import { html, type Content, type Html } from "../../../src/http/reference/html.ts";
import type { ForgeContext } from "../context.ts";
import { readCommit, subjectOf, type Commit } from "../git/commits.ts";
import { diffFiles, type DiffFile } from "../git/diff.ts";
import { commitsBetween, mergeBase } from "../git/history.ts";
import { resolveCommit } from "../git/resolve.ts";
import { latestCheckRuns, latestStatuses } from "../queries/commit-outcomes.ts";
import type { RepositoryRow } from "../rows.ts";
import { facts, link, list, plainText, type Page } from "./layout.ts";

export const commitLink = (forge: ForgeContext, repository: RepositoryRow, { sha, message }: Commit): Html =>
  html`<code>${link(forge, repository, sha.slice(0, 7), "commit", sha)}</code> ${subjectOf(message)}`;

/** The statuses and check runs of a commit. */
export function checks(forge: ForgeContext, repository: RepositoryRow, sha: string): Html {
  const statuses = latestStatuses(forge, repository.id, sha).map(
    ({ context, state, description }) =>
      html`${context}: ${state}${description === null ? "" : `, ${description}`}`,
  );
  const runs = latestCheckRuns(forge, repository.id, sha).map(
    ({ id, name, status, conclusion }) =>
      html`${link(forge, repository, name, "runs", id)}: ${conclusion ?? status}`,
  );
  return list([...statuses, ...runs], "No checks.");
}

const files = (changed: readonly DiffFile[]): Content =>
  list(
    changed.map(
      ({ path, previousPath, status, additions, deletions, patch }) =>
        html`<code>${path}</code> ${status}${previousPath === null ? "" : ` from ${previousPath}`},
          +${additions} −${deletions}${patch !== null && html`<pre>${patch}</pre>`}`,
    ),
    "No changed files.",
  );

export async function commitPage(
  forge: ForgeContext,
  repository: RepositoryRow,
  sha: string,
): Promise<Page | null> {
  const repo = forge.git.repository(repository.id);
  const commit = await readCommit(repo, sha);
  if (commit === null) return null;
  const { author, message, parents } = commit;
  return {
    title: subjectOf(message),
    content: html`${facts({
        Repository: link(forge, repository, repository.name),
        Commit: html`<code>${commit.sha}</code>`,
        Author: `${author.name}, ${author.date}`,
        Parents: parents.map(
          (parent) => html`<code>${link(forge, repository, parent.slice(0, 7), "commit", parent)}</code> `,
        ),
      })}
      <h2>Message</h2>
      ${plainText(message)}
      <h2>Checks</h2>
      ${checks(forge, repository, commit.sha)}
      <h2>Files</h2>
      ${files(await diffFiles(repo, parents[0] ?? null, commit.sha))}`,
  };
}

/** `range` is `<base>...<head>`, as in the API. */
export async function comparePage(
  forge: ForgeContext,
  repository: RepositoryRow,
  range: string,
): Promise<Page | null> {
  const repo = forge.git.repository(repository.id);
  const [base = "", head = ""] = range.split("...").map((part) => part.replace(/^[^:]+:/, ""));
  const [from, to] = await Promise.all([resolveCommit(repo, base), resolveCommit(repo, head)]);
  const fork = from === null || to === null ? null : await mergeBase(repo, from, to);
  if (from === null || to === null || fork === null) return null;
  const commits = await commitsBetween(repo, from, to);
  return {
    title: `Comparing ${base} with ${head}`,
    content: html`${facts({ Repository: link(forge, repository, repository.name) })}
      <h2>Commits</h2>
      ${list(
        commits.map((commit) => commitLink(forge, repository, commit)),
        "No commits.",
      )}
      <h2>Files</h2>
      ${files(await diffFiles(repo, fork, to))}`,
  };
}

export function checkRunPage(forge: ForgeContext, repository: RepositoryRow, id: number): Page | null {
  const run = forge.state.checkRuns.get(id);
  if (run?.repositoryId !== repository.id) return null;
  const { name, headSha, status, conclusion, detailsUrl, output } = run;
  return {
    title: name,
    content: html`${facts({
      Repository: link(forge, repository, repository.name),
      Commit: link(forge, repository, headSha, "commit", headSha),
      Status: status,
      Conclusion: conclusion,
      Details: detailsUrl,
      Title: output.title,
    })}${plainText([output.summary, output.text].filter((text) => text !== null).join("\n\n"))}`,
  };
}
