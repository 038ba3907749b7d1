import { z } from "zod";
import type { ApiCall } from "../../sandbox/forge/hooks.ts";

/** What a writing call changes on the forge, named like the service's intents. */
export interface ForgeEffect {
  /** When the service sent the call. */
  readonly sentAt: number;
  readonly route: string;
  readonly kind: "create_branch" | "open_pull_request" | "mark_ready" | "merge" | "comment";
  /** GitHub's id of the repository; null for `mark_ready` and for temporary branches. */
  readonly forgeId: number | null;
  /** As in `forge_intents`; the node id of a pull request for `mark_ready`, the id of a comment. */
  readonly subject: string;
}

const text = z.string().catch("");
const restBody = z.object({ ref: text, head: text, base: text, body: text });
const graphqlBody = z.object({
  variables: z.object({
    pullRequestId: text,
    refUpdates: z.array(z.object({ name: z.string(), afterOid: text })).catch([]),
  }),
});

const HEADS = "refs/heads/";
const TEMPORARY = `${HEADS}trunkline/tmp/`;
const MARK = /^<!-- trunkline:comment ([0-9a-f-]{36})/;

/** The effect of a call; null for a read, and for a write that no invariant is about. */
export function effectOf(call: ApiCall): Pick<ForgeEffect, "kind" | "forgeId" | "subject"> | null {
  if (call.method === "GET") return null;
  if (call.route === "POST /graphql") return effectOfMutation(call);
  const [, id, path = ""] = /^\/repositories\/(\d+)(\/.*)$/.exec(call.path) ?? [];
  if (id === undefined) return null;
  const forgeId = Number(id);
  const { ref, head, base, body } = restBody.parse(jsonOf(call) ?? {});
  const isPost = call.method === "POST";
  if (isPost && path === "/git/refs" && ref.startsWith(HEADS))
    return { kind: "create_branch", forgeId, subject: ref.slice(HEADS.length) };
  if (isPost && path === "/pulls") return { kind: "open_pull_request", forgeId, subject: `${head}:${base}` };
  const [, number] = /^\/pulls\/(\d+)\/merge(-async)?$/.exec(path) ?? [];
  if (number !== undefined) return { kind: "merge", forgeId, subject: number };
  const [, commentId] = MARK.exec(body) ?? [];
  return commentId === undefined ? null : { kind: "comment", forgeId, subject: commentId };
}

function effectOfMutation(call: ApiCall): Pick<ForgeEffect, "kind" | "forgeId" | "subject"> | null {
  const parsed = graphqlBody.safeParse(jsonOf(call));
  if (!parsed.success) return null;
  const { pullRequestId, refUpdates } = parsed.data.variables;
  if (/\bmarkPullRequestReadyForReview\b/.test(call.body.toString("utf8")))
    return { kind: "mark_ready", forgeId: null, subject: pullRequestId };
  // A pick writes or removes its temporary branch in each mutation. Removing it alone undoes it.
  const pick = refUpdates.find(({ name }) => name.startsWith(TEMPORARY));
  const isUndone = refUpdates.every(({ afterOid }) => /^0*$/.test(afterOid));
  if (!pick || isUndone) return null;
  return { kind: "create_branch", forgeId: null, subject: pick.name.slice(HEADS.length) };
}

function jsonOf({ body }: ApiCall): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}
