import type { ReactNode, Ref } from "react";

interface Props {
  readonly href: string | null;
  readonly className?: string;
  readonly children: ReactNode;
  readonly linkRef?: Ref<HTMLAnchorElement>;
}

/** A link to GitHub or to a page that GitHub names. Other addresses than those of web pages stay text. */
export const ExternalLink = ({ href, className, children, linkRef }: Props) =>
  href !== null && /^https?:\/\//i.test(href) ? (
    <a className={className} href={href} target="_blank" rel="noopener noreferrer" ref={linkRef}>
      {children}
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  ) : (
    <span className={className}>{children}</span>
  );

/** Addresses of GitHub's pages about a repository. */
export const gitHubPages = (forgeUrl: string, fullName: string) => {
  const base = `${forgeUrl}/${inPath(fullName)}`;
  return {
    repository: base,
    pull: (number: number) => `${base}/pull/${number}`,
    branch: (name: string) => `${base}/tree/${inPath(name)}`,
    commit: (sha: string) => `${base}/commit/${inPath(sha)}`,
  };
};

const inPath = (name: string): string => name.split("/").map(encodeURIComponent).join("/");

/** The first digits of a commit, as GitHub shows it. */
export const shortSha = (sha: string): string => sha.slice(0, 7);
