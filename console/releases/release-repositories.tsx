import type { ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { ExternalLink, gitHubPages, shortSha } from "../card/git/external-link.tsx";
import { Icon } from "../components/icon.tsx";

/** The branches and tags of a release on GitHub. */
export function ReleaseRepositories({ release }: { readonly release: ReleaseDetails }) {
  const { session } = useWorkspace();
  const tags = new Map(release.tags.map((tag) => [tag.repositoryId, tag]));
  const shown = release.repositories.filter(
    ({ repositoryId, branchName }) => branchName !== null || tags.has(repositoryId),
  );
  if (shown.length === 0) return null;
  return (
    <section className="release-panel" aria-labelledby="release-repositories">
      <h2 id="release-repositories">Branches and tags</h2>
      <ul className="release-repositories">
        {shown.map(({ repositoryId, fullName, branchName, headSha }) => {
          const pages = gitHubPages(session.forgeUrl, fullName);
          const tag = tags.get(repositoryId);
          return (
            <li key={repositoryId} className="release-row-facts">
              <strong className="mono">{fullName}</strong>
              {branchName !== null && (
                <span className="release-ref mono">
                  <Icon name="branch" />
                  <ExternalLink href={pages.branch(branchName)}>{branchName}</ExternalLink>
                </span>
              )}
              {branchName !== null && headSha !== null && (
                <span className="release-ref mono">
                  <Icon name="commit" />
                  <ExternalLink href={pages.commit(headSha)}>{shortSha(headSha)}</ExternalLink>
                </span>
              )}
              {tag && (
                <span className="release-ref mono">
                  <Icon name="tag" />
                  {tag.tagName} at{" "}
                  <ExternalLink href={pages.commit(tag.sha)}>{shortSha(tag.sha)}</ExternalLink>
                </span>
              )}
              {tag && tag.url !== null && (
                <ExternalLink href={tag.url}>Release notes of {tag.tagName} on GitHub</ExternalLink>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
