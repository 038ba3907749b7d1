import { z } from "zod";
import { inertText } from "../../../flow/inert-text.ts";
import type { OpenedPullRequest, PullRequestDraft } from "../../pull-requests.ts";
import type { ForgeResult } from "../../values.ts";
import { type GitHubCaller, parseResponse } from "../calls/client.ts";
import { UnknownOutcome } from "../calls/failures.ts";
import { type GitHubRepository, nothingToFind, refusedBy } from "../github-repository.ts";
import { graphqlOutcome, refusalOfError } from "../calls/graphql-response.ts";
import { allPages, PAGE, repositoryOf, succeeded } from "../repositories.ts";
import { allMessages } from "../calls/refusals.ts";
import { name } from "../text-shapes.ts";

const openedShape = z.looseObject({
  number: z.number(),
  node_id: z.string(),
  draft: z.boolean().nullish(),
  head: z.looseObject({
    ref: name,
    sha: z.string(),
    repo: z.looseObject({ id: z.number() }).nullish(),
  }),
  base: z.looseObject({ ref: name }),
  user: z.looseObject({ id: z.number() }).nullish(),
  state: z.string().nullish(),
  created_at: z.string().nullish(),
  merged_at: z.string().nullish(),
});

type Opened = ForgeResult<OpenedPullRequest>;

/** GitHub refuses a second pull request only while the first is open, so this searches for it. */
export async function openPullRequest(
  repository: GitHubRepository,
  draft: PullRequestDraft,
): Promise<Opened> {
  const { ref, write, runWrite, onMissingFeature } = repository;
  const find = async (): Promise<Opened | null> => {
    const found = await findOpened(repository, draft);
    if (found === null && (await draft.isReported())) throw notListed();
    return found;
  };
  const earlier = draft.isRetry ? await find() : null;
  if (earlier !== null) return earlier;
  const open = async (isDraft: boolean): Promise<Opened> => {
    const response = await write("POST /pulls", {
      title: plainTitle(draft.title) || draft.headBranch,
      body: draft.body,
      head: draft.headBranch,
      base: draft.targetBranch,
      draft: isDraft,
    });
    if (response.status < 300) return { ok: true, value: toOpened(parseResponse(openedShape, response)) };
    const message = response.status === 422 ? allMessages(response.body) : "";
    if (/pull request already exists/i.test(message)) {
      const found = await find();
      if (found === null) throw notListed();
      return found;
    }
    // Depends on the plan for private repositories.
    if (isDraft && /draft pull requests are not supported/i.test(message)) {
      await onMissingFeature(ref.forgeId, "drafts");
      return await open(false);
    }
    return refusedBy(response);
  };
  return await runWrite(() => open(draft.isDraft && !ref.lacks?.includes("drafts")), find);
}

const notListed = (): UnknownOutcome =>
  new UnknownOutcome("GitHub has the pull request, but does not list it yet");

async function findOpened(repository: GitHubRepository, draft: PullRequestDraft): Promise<Opened | null> {
  const owner = ownerIn(repository.ref.fullName);
  const listed = await findUnder(owner, repository, draft);
  if (listed !== null) return listed;
  // The filter needs the owner's present name.
  const now = await repositoryOf(repository.caller, repository.ref);
  if (now === null || ownerIn(now.fullName) === owner) return null;
  return await findUnder(ownerIn(now.fullName), repository, draft);
}

/**
 * The newest open one, else the newest that only an earlier attempt can have opened. Filters the
 * list itself, because GitHub ignores filters that it does not understand.
 */
async function findUnder(
  owner: string,
  { ref, read, identity }: GitHubRepository,
  { headBranch, targetBranch, highestKnownNumber }: PullRequestDraft,
): Promise<Opened | null> {
  const matches = ({ head, base }: z.infer<typeof openedShape>): boolean =>
    head.ref === headBranch && head.repo?.id === ref.forgeId && base.ref === targetBranch;
  const isOpen = (pull: z.infer<typeof openedShape>): boolean => matches(pull) && pull.state !== "closed";
  const parameters = { head: `${owner}:${headBranch}`, base: targetBranch, state: "all", per_page: PAGE };
  const listed = await allPages(
    (page) => read("/pulls", { ...parameters, page }),
    (response) =>
      [403, 404].includes(response.status) ? [] : parseResponse(z.array(openedShape), succeeded(response)),
    // Only one can be open.
    (pulls) => pulls.some(isOpen),
  );
  const matching = listed.filter(matches).toSorted((a, b) => b.number - a.number);
  const open = matching.find(isOpen);
  if (open) return { ok: true, value: toOpened(open) };
  const later =
    highestKnownNumber === null ? [] : matching.filter(({ number }) => number > highestKnownNumber);
  if (later.length === 0) return null;
  const { botId } = await identity();
  const ours = later.find(({ user }) => user?.id === botId);
  return ours ? { ok: true, value: toOpened(ours) } : null;
}

function toOpened(pull: z.infer<typeof openedShape>): OpenedPullRequest {
  const { merged_at: mergedAt, created_at: openedAt = null } = pull;
  const ended = { state: mergedAt ? "merged" : "closed", openedAt } as const;
  return {
    number: pull.number,
    nodeId: pull.node_id,
    isDraft: pull.draft ?? false,
    headSha: pull.head.sha,
    ...(pull.user && { authorId: pull.user.id }),
    ...(pull.state === "closed" && { ended }),
  };
}

/** GitHub ignores the closing of a closed pull request. */
export const closePullRequest = (
  { write, runWrite }: GitHubRepository,
  number: number,
): Promise<ForgeResult<null>> =>
  runWrite<ForgeResult<null>>(async () => {
    const closing = { pull_number: number, state: "closed" };
    const response = await write("PATCH /pulls/{pull_number}", closing);
    return response.status < 300 ? { ok: true, value: null } : refusedBy(response);
  }, nothingToFind);

const ownerIn = (fullName: string): string => fullName.split("/")[0] ?? "";

const MAX_TITLE_BYTES = 256;

/** One inert line of at most 256 bytes without control characters. */
export function plainTitle(title: string): string {
  let line = inertText(title.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim());
  // Cutting `#14abc` after the digits makes a reference, which needs another joiner.
  while (Buffer.byteLength(line) > MAX_TITLE_BYTES) line = inertText(shortened(line));
  return line;
}

function shortened(line: string): string {
  let short = "";
  let bytes = Buffer.byteLength("…");
  for (const character of line) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_TITLE_BYTES) break;
    short += character;
  }
  return `${short.trimEnd()}…`;
}

/** REST has no such call. */
export const MARK_READY = /* GraphQL */ `
  mutation MarkReady($pullRequestId: ID!) {
    markPullRequestReadyForReview(input: { pullRequestId: $pullRequestId }) {
      pullRequest {
        isDraft
        baseRefName
      }
    }
  }
`;

export const READ_DRAFT_STATE = /* GraphQL */ `
  query DraftState($pullRequestId: ID!) {
    node(id: $pullRequestId) {
      ... on PullRequest {
        isDraft
      }
    }
  }
`;

const markedShape = z.looseObject({
  data: z.looseObject({
    markPullRequestReadyForReview: z.looseObject({
      pullRequest: z.looseObject({ isDraft: z.boolean(), baseRefName: name.nullish() }),
    }),
  }),
});
const stateShape = z.looseObject({ node: z.looseObject({ isDraft: z.boolean() }).nullish() });

type Ready = ForgeResult<{ readonly targetBranch: string | null }>;

export async function markReady(
  { caller, runWrite }: GitHubRepository,
  pullRequestId: string,
): Promise<Ready> {
  const find = async (): Promise<Ready | null> =>
    (await isReady(caller, pullRequestId)) ? { ok: true, value: { targetBranch: null } } : null;
  return await runWrite<Ready>(async () => {
    const response = await caller.mutate(MARK_READY, { pullRequestId });
    const outcome = graphqlOutcome(response);
    if (!outcome.ok) return outcome;
    const [error] = outcome.value.errors;
    if (error !== undefined) {
      const refusal = refusalOfError(error, response);
      return (await find()) ?? { ok: false, refusal };
    }
    const marked = parseResponse(markedShape, response).data.markPullRequestReadyForReview.pullRequest;
    if (marked.isDraft) throw new UnknownOutcome("GitHub left the pull request a draft without saying why");
    return { ok: true, value: { targetBranch: marked.baseRefName ?? null } };
  }, find);
}

async function isReady(caller: GitHubCaller, pullRequestId: string): Promise<boolean> {
  const outcome = graphqlOutcome(await caller.query(READ_DRAFT_STATE, { pullRequestId }));
  const state = stateShape.safeParse(outcome.ok ? outcome.value.data : null);
  return state.data?.node?.isDraft === false;
}
