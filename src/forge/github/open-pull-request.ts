import { z } from "zod";
import type { ForgeIdentity, OpenedPullRequest, Ordered, PullRequestDraft, RepositoryRef } from "../forge.ts";
import { type Answer, type Caller, shaped } from "./client.ts";
import type { CarryOut } from "./carry-out.ts";
import { UnknownOutcome } from "./failures.ts";
import { allWordsOf } from "./forge-words.ts";
import { plainTitle } from "./plain-title.ts";
import { refusalOf } from "./refusals.ts";
import type { OnLacking } from "./on-lacking.ts";
import { REPOSITORY, repositoryById, succeeded } from "./repositories.ts";

const openedShape = z.looseObject({
  number: z.number(),
  node_id: z.string(),
  draft: z.boolean().nullish(),
  head: z.looseObject({
    ref: z.string(),
    sha: z.string(),
    repo: z.looseObject({ id: z.number() }).nullish(),
  }),
  base: z.looseObject({ ref: z.string() }),
  user: z.looseObject({ id: z.number() }).nullish(),
  state: z.string().nullish(),
  created_at: z.string().nullish(),
  merged_at: z.string().nullish(),
});
type Listed = z.infer<typeof openedShape>;

type Opened = Ordered<OpenedPullRequest>;

interface OpeningDeps {
  readonly caller: Caller;
  readonly carryOut: CarryOut;
  readonly onLacking: OnLacking;
  readonly identity: () => Promise<ForgeIdentity>;
}

/**
 * Opens a pull request, or finds the one that is open already for the same head and target, or that an earlier try opened: GitHub refuses to open
 * a second one only while the first is open.
 */
export async function openPullRequest(
  deps: OpeningDeps,
  repository: RepositoryRef,
  draft: PullRequestDraft,
): Promise<Opened> {
  const { caller, carryOut, onLacking } = deps;
  const find = async (): Promise<Opened | null> => {
    const found = await findOpened(deps, repository, draft);
    if (found === null && (await draft.isHeardOf())) throw notListed();
    return found;
  };
  const earlier = draft.isRepeated ? await find() : null;
  if (earlier !== null) return earlier;
  const order = async (isDraft: boolean): Promise<Opened> => {
    const answer = await create(caller, repository, draft, isDraft);
    if (answer.status < 300) return { ok: true, value: toOpened(shaped(openedShape, answer)) };
    const words = answer.status === 422 ? allWordsOf(answer.body) : "";
    if (/pull request already exists/i.test(words)) {
      const found = await find();
      if (found === null) throw notListed();
      return found;
    }
    // Private repositories have drafts on some plans only.
    if (isDraft && /draft pull requests are not supported/i.test(words)) {
      await onLacking(repository.forgeId, "drafts");
      return await order(false);
    }
    return { ok: false, refusal: refusalOf(answer.status, answer.body) };
  };
  return await carryOut(() => order(draft.isDraft && !repository.lacks?.includes("drafts")), find);
}

const notListed = (): UnknownOutcome =>
  new UnknownOutcome("GitHub has the pull request, but does not list it yet");

async function create(
  caller: Caller,
  repository: RepositoryRef,
  draft: PullRequestDraft,
  isDraft: boolean,
): Promise<Answer> {
  return await caller.write(`POST ${REPOSITORY}/pulls`, {
    repository_id: repository.forgeId,
    title: plainTitle(draft.title) || draft.headBranch,
    body: draft.body,
    head: draft.headBranch,
    base: draft.targetBranch,
    draft: isDraft,
  });
}

async function findOpened(
  deps: OpeningDeps,
  repository: RepositoryRef,
  draft: PullRequestDraft,
): Promise<Opened | null> {
  const listed = await findUnder(ownerIn(repository.fullName), deps, repository, draft);
  if (listed !== null) return listed;
  // GitHub lists by the owner's present name only.
  const now = await repositoryById(deps.caller, repository.forgeId);
  if (now === null || ownerIn(now.fullName) === ownerIn(repository.fullName)) return null;
  return await findUnder(ownerIn(now.fullName), deps, repository, draft);
}

/** The newest that is open, else the newest that only an earlier try can have opened. Filters are not trusted: one that GitHub does not understand lists everything. */
async function findUnder(
  owner: string,
  { caller, identity }: OpeningDeps,
  repository: RepositoryRef,
  draft: PullRequestDraft,
): Promise<Opened | null> {
  const answer = await caller.read(`GET ${REPOSITORY}/pulls`, {
    repository_id: repository.forgeId,
    head: `${owner}:${draft.headBranch}`,
    base: draft.targetBranch,
    state: "all",
    per_page: 100,
  });
  if (answer.status === 404 || answer.status === 403) return null;
  const matching = shaped(z.array(openedShape), succeeded(answer))
    .filter(
      ({ head, base }) =>
        head.ref === draft.headBranch &&
        head.repo?.id === repository.forgeId &&
        base.ref === draft.targetBranch,
    )
    .toSorted((a, b) => b.number - a.number);
  const open = matching.find((pull) => !isEnded(pull));
  if (open) return { ok: true, value: toOpened(open) };
  const { knownUpTo } = draft;
  const later = knownUpTo === null ? [] : matching.filter(({ number }) => number > knownUpTo);
  if (later.length === 0) return null;
  const { botId } = await identity();
  const ours = later.find(({ user }) => user?.id === botId);
  return ours ? { ok: true, value: toOpened(ours) } : null;
}

const isEnded = ({ state }: Listed): boolean => state === "closed";

function toOpened(pull: Listed): OpenedPullRequest {
  const { merged_at: mergedAt, created_at: openedAt = null } = pull;
  const state = mergedAt ? "merged" : "closed";
  return {
    number: pull.number,
    nodeId: pull.node_id,
    isDraft: pull.draft ?? false,
    headSha: pull.head.sha,
    ...(pull.user && { authorId: pull.user.id }),
    ...(isEnded(pull) && { ended: { state, openedAt } }),
  };
}

function ownerIn(fullName: string): string {
  return fullName.split("/")[0] ?? "";
}
