import type { RequestHandler } from "express";
import { html } from "../../../src/http/reference/html.ts";
import type { ForgeContext } from "../context.ts";
import { fullNameOf } from "../present/repository.ts";
import type { AccountRow, InstallationRow, RepositoryRow } from "../rows.ts";
import { findRepository } from "../server/access.ts";
import { checkRunPage, commitPage, comparePage } from "./commit-pages.ts";
import { documentOf, facts, link, list, POLICY, type Page } from "./layout.ts";
import { contentPage, pullRequestPage, queuePage, releasePage, repositoryPage } from "./repository-pages.ts";

/** A page, the path of another one, null for a page that does not exist; undefined: not a page. */
type Found = Page | { readonly path: string } | null | undefined;

/**
 * Read-only pages at the `html_url` addresses of the API. They need no sign-in, also for private
 * repositories: the sandbox listens on this machine only, and the sign-in of its forge asks for no
 * password either. They contain no tokens, secrets or email addresses of accounts.
 */
export const servePages =
  (forge: ForgeContext): RequestHandler =>
  async (request, response, next) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    const segments = segmentsOf(request.path);
    // The API has a resource at this path, too.
    const isHome = segments.length === 0 && request.accepts(["json", "html"]) === "html";
    const found = !isRead ? undefined : isHome ? homePage(forge) : await find(forge, segments);
    if (found === undefined) next();
    else if (found !== null && "path" in found) response.redirect(301, found.path);
    else {
      response.status(found === null ? 404 : 200).type("html");
      response.set({
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
      });
      response.send(documentOf(found ?? { title: "Not found", content: "There is no such page." }));
    }
  };

function segmentsOf(path: string): string[] {
  try {
    return path.replace(/\/$/, "").split("/").slice(1).map(decodeURIComponent);
  } catch {
    return [];
  }
}

async function find(forge: ForgeContext, segments: readonly string[]): Promise<Found> {
  const [owner = "", name, ...rest] = segments;
  if (name === undefined) return accountPage(forge, forge.state.accounts.inGroup(owner.toLowerCase())[0]);
  if (owner === "apps") return rest.length === 0 ? appPage(forge, name) : undefined;
  if (owner === "organizations" || owner === "settings") return installationPages(forge, segments);
  if (forge.state.accounts.inGroup(owner.toLowerCase()).length === 0) return undefined;
  const found = findRepository(forge, owner, name);
  if (found === null) return null;
  if ("repository" in found) return belowRepository(forge, found.repository, rest);
  return { path: `/${[fullNameOf(forge, found.movedTo), ...rest.map(encodeURIComponent)].join("/")}` };
}

function belowRepository(
  forge: ForgeContext,
  repository: RepositoryRow,
  [kind, ...rest]: readonly string[],
): Promise<Page | null> | Page | null {
  const [first = "", second, third = ""] = rest;
  switch (kind) {
    case undefined:
      return repositoryPage(forge, repository);
    case "pull":
      return second === "commits"
        ? commitPage(forge, repository, third)
        : pullRequestPage(forge, repository, Number(first));
    case "commit":
      return commitPage(forge, repository, first);
    case "tree":
    case "blob":
      return contentPage(forge, repository, rest);
    case "compare":
      return comparePage(forge, repository, rest.join("/"));
    case "runs":
      return checkRunPage(forge, repository, Number(first));
    case "releases":
      return first === "tag" ? releasePage(forge, repository, rest.slice(1).join("/")) : null;
    case "queue":
      return queuePage(forge, repository, rest.join("/"));
    default:
      return null;
  }
}

const homePage = (forge: ForgeContext): Page => ({
  title: "Repositories",
  content: list(
    forge.state.repositories
      .all()
      .map((repository) => link(forge, repository, fullNameOf(forge, repository))),
    "No repositories.",
  ),
});

function accountPage(forge: ForgeContext, account: AccountRow | undefined): Page | undefined {
  if (account === undefined) return undefined;
  const owned = forge.state.repositories.all().filter(({ ownerId }) => ownerId === account.id);
  return {
    title: account.login,
    content: html`${facts({ Name: account.name, Type: account.type })}
      <h2>Repositories</h2>
      ${list(
        owned.map((repository) => link(forge, repository, repository.name)),
        "No repositories.",
      )}`,
  };
}

/** The page of the App, or of another bot account. */
function appPage(forge: ForgeContext, slug: string): Page | null {
  const app = forge.state.apps.all().find((each) => each.slug === slug);
  const [bot] = forge.state.accounts.inGroup(`${slug}[bot]`.toLowerCase());
  const name = app?.name ?? bot?.name ?? bot?.login;
  return name === undefined ? null : { title: name, content: facts({ Type: "GitHub App" }) };
}

/** `/settings/installations/<id>`, or below `/organizations/<login>` with or without the id. */
function installationPages(forge: ForgeContext, segments: readonly string[]): Page | null | undefined {
  const isOfOrganization = segments[0] === "organizations";
  const [area, kind, id] = isOfOrganization ? segments.slice(2) : segments;
  // The page that creates an App is served elsewhere.
  if (area !== "settings" || kind !== "installations") return undefined;
  const [account] = isOfOrganization ? forge.state.accounts.inGroup((segments[1] ?? "").toLowerCase()) : [];
  const shown = forge.state.installations
    .all()
    .filter((each) => id === undefined || each.id === Number(id))
    .filter(({ accountId }) => !isOfOrganization || accountId === account?.id);
  if (id !== undefined && shown.length === 0) return null;
  return {
    title: "Installed GitHub Apps",
    content: list(
      shown.map((each) => installation(forge, each)),
      "No installed Apps.",
    ),
  };
}

const installation = (
  { state }: ForgeContext,
  { appId, accountId, repositorySelection, permissions, suspendedAt }: InstallationRow,
) =>
  html`${state.apps.need(appId).name} on ${state.accounts.need(accountId).login}
  ${facts({
    Repositories: repositorySelection,
    Permissions: Object.entries(permissions)
      .map(([name, level]) => `${name}: ${level}`)
      .join(", "),
    Suspended: suspendedAt,
  })}`;
