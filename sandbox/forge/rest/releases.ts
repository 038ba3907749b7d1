import { createRelease, deleteRelease, editRelease, type ReleaseContent } from "../actions/releases.ts";
import { readCommit } from "../git/commits.ts";
import { listRefs } from "../git/refs.ts";
import { presentRelease, presentTag } from "../present/release.ts";
import type { ReleaseRow } from "../rows.ts";
import { roleIn } from "../server/access.ts";
import { invalidFields, notFound } from "../server/api-error.ts";
import { optionalFlag, optionalText } from "../server/body-fields.ts";
import { paged } from "../server/paging.ts";
import { created, noContent, ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";

export const releaseRoutes = [
  repositoryRoute("GET", "/tags", "contents:read", listTags),
  repositoryRoute("GET", "/releases", "contents:read", list),
  repositoryRoute("POST", "/releases", "contents:write", create),
  repositoryRoute("GET", "/releases/latest", "contents:read", readLatest),
  repositoryRoute("GET", "/releases/tags/{tag}", "contents:read", readByTag),
  repositoryRoute("GET", "/releases/{release_id}", "contents:read", readOne),
  repositoryRoute("PATCH", "/releases/{release_id}", "contents:write", edit),
  repositoryRoute("DELETE", "/releases/{release_id}", "contents:write", remove),
];

/** Newest first. Only callers that may write see drafts. */
function visible({ forge, repository, caller }: RepositoryCall): ReleaseRow[] {
  const mayWrite = ["write", "admin"].includes(roleIn(forge, caller, repository) ?? "");
  const releases = forge.state.releases.inGroup(repository.id).filter((each) => mayWrite || !each.draft);
  return releases.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id - a.id);
}

function releaseOf(call: RepositoryCall): ReleaseRow {
  const release = visible(call).find((each) => each.id === Number(call.params["release_id"]));
  if (release === undefined) throw notFound();
  return release;
}

const show = ({ forge, repository }: RepositoryCall, release: ReleaseRow) =>
  presentRelease(forge, repository, release);

function showOrMissing(call: RepositoryCall, release: ReleaseRow | undefined) {
  if (release === undefined) throw notFound();
  return ok(show(call, release));
}

async function listTags(call: RepositoryCall) {
  const { forge, repository } = call;
  const repo = forge.git.repository(repository.id);
  const refs = await listRefs(repo, "refs/tags/");
  return paged(call, refs.toReversed(), async ({ name, sha }) => {
    const commit = await readCommit(repo, sha);
    return presentTag(forge, repository, name.replace("refs/tags/", ""), commit?.sha ?? sha);
  });
}

function list(call: RepositoryCall) {
  return paged(call, visible(call), (release) => show(call, release));
}

function contentFrom({ fields, repository }: RepositoryCall, known: ReleaseRow | null): ReleaseContent {
  return {
    tagName: optionalText(fields, "tag_name") ?? known?.tagName ?? "",
    targetCommitish:
      optionalText(fields, "target_commitish") ?? known?.targetCommitish ?? repository.defaultBranch,
    name: optionalText(fields, "name") ?? known?.name ?? null,
    body: optionalText(fields, "body") ?? known?.body ?? null,
    draft: optionalFlag(fields, "draft") ?? known?.draft ?? false,
    prerelease: optionalFlag(fields, "prerelease") ?? known?.prerelease ?? false,
    makeLatest: makeLatestIn(fields),
  };
}

function makeLatestIn(fields: RepositoryCall["fields"]): ReleaseContent["makeLatest"] {
  const given = optionalText(fields, "make_latest") ?? null;
  if (given === null || given === "true" || given === "false" || given === "legacy") return given;
  throw invalidFields({ resource: "Release", field: "make_latest", code: "invalid" });
}

async function create(call: RepositoryCall) {
  const { forge, repository, actor } = call;
  const body = show(call, await createRelease(forge, repository, actor, contentFrom(call, null)));
  return created(body, body.url);
}

/** Without `make_latest`, a newly published release becomes the latest. */
function readLatest(call: RepositoryCall) {
  const published = visible(call).filter((each) => !each.draft && !each.prerelease);
  const [latest] = published.toSorted(
    (a, b) => (b.latestAt ?? "").localeCompare(a.latestAt ?? "") || b.id - a.id,
  );
  return showOrMissing(call, latest);
}

function readByTag(call: RepositoryCall) {
  const published = visible(call).filter((each) => !each.draft);
  return showOrMissing(
    call,
    published.find((each) => each.tagName === call.params["tag"]),
  );
}

function readOne(call: RepositoryCall) {
  return ok(show(call, releaseOf(call)));
}

async function edit(call: RepositoryCall) {
  const { forge, repository, actor } = call;
  const known = releaseOf(call);
  return ok(show(call, await editRelease(forge, repository, actor, known, contentFrom(call, known))));
}

async function remove(call: RepositoryCall) {
  await deleteRelease(call.forge, call.repository, call.actor, releaseOf(call));
  return noContent;
}
