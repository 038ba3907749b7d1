import { listRefs } from "../../sandbox/forge/git/refs.ts";
import type { PullRequestRow, RepositoryRow } from "../../sandbox/forge/rows.ts";
import type { SeededRandom } from "../seeded-random.ts";
import type { History } from "../history.ts";
import { SHARED } from "../world/shared-repository.ts";
import type { CheckedWorld } from "../world/world.ts";
import type { BoardKnowledge } from "./board-knowledge.ts";

export interface PersonContext {
  readonly world: Pick<CheckedWorld, "forge">;
  readonly login: "ada" | "grace";
  readonly random: SeededRandom;
  readonly own: BoardKnowledge;
  readonly history: History;
}

interface PersonResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A person and a repository of their board in its current state on the forge. */
export interface RepositoryContext extends PersonContext {
  readonly repository: RepositoryRow;
  /** Calls the REST API with a path below the repository's URL. Returns the status. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<number>;
  /** Like `call`, for a step of an action. It is not recorded. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<PersonResponse>;
  /** Records the action, if it was not made by `call`. It was refused if `status` is 300 or higher. */
  readonly record: (detail: Readonly<Record<string, unknown>> & { readonly status: number }) => void;
  /** The branches of cards. */
  readonly branches: readonly string[];
  readonly pulls: readonly PullRequestRow[];
}

/** Something that a person does. */
export type Action = (context: RepositoryContext) => Promise<unknown>;

/** Null without a repository. Calls there are recorded under the name of the action. */
export async function chooseRepository(
  context: PersonContext,
  action: string,
): Promise<RepositoryContext | null> {
  const { world, own, random, login, history } = context;
  const { state, git } = world.forge.context;
  const [account] = state.accounts.inGroup(own.board.owner);
  const repository = random.pick(
    state.repositories.all().filter(({ ownerId, name }) => ownerId === account?.id && name !== SHARED),
  );
  if (!repository) return null;
  const refs = await listRefs(git.repository(repository.id), "refs/heads/");
  const ask: RepositoryContext["ask"] = (method, path, body) => {
    const at = `/repos/${own.board.owner}/${repository.name}${path}`;
    return own.board.person(login, method, at, body);
  };
  const record: RepositoryContext["record"] = (detail) =>
    history.event("person", action, {
      login,
      repository: repository.name,
      forgeId: repository.id,
      ...detail,
    });
  return {
    ...context,
    repository,
    branches: refs
      .map(({ name }) => name.slice("refs/heads/".length))
      .filter((name) => name.startsWith("card/")),
    pulls: state.pullRequests.inGroup(repository.id),
    ask,
    record,
    call: async (method, path, body) => {
      const { status } = await ask(method, path, body);
      record({ asked: `${method} ${path}`, status, body });
      return status;
    },
  };
}

/** The tip of a branch; empty if it is gone. */
export async function headOf({ world, repository }: RepositoryContext, branch: string): Promise<string> {
  const refs = await listRefs(world.forge.context.git.repository(repository.id), `refs/heads/${branch}`);
  return refs.find(({ name }) => name === `refs/heads/${branch}`)?.sha ?? "";
}

/** At most `count` commits of a branch without merged ones, newest first; empty if it is gone. */
export async function lineOf(context: RepositoryContext, branch: string, count: number): Promise<string[]> {
  const head = await headOf(context, branch);
  if (head === "") return [];
  const git = context.world.forge.context.git.repository(context.repository.id);
  const { stdout } = await git.run(["rev-list", `--max-count=${count}`, "--first-parent", head]);
  return stdout.toString("utf8").trim().split("\n");
}

/** Commits a file to a branch through the REST API. */
export async function commitTo(context: RepositoryContext, branch: string | undefined): Promise<void> {
  if (branch === undefined) return;
  const { own, random, call } = context;
  own.count += 1;
  // A file that others change too leads to merge conflicts.
  const path = random.weighted({
    [`file-${own.count}.txt`]: 17,
    "app.txt": 3,
    [`.github/workflows/ci-${own.count}.yml`]: 1,
  });
  const content = Buffer.from(`version ${own.count}\n`).toString("base64");
  await call("PUT", `/contents/${path}`, { message: `Change ${path}`, content, branch });
}

interface GraphqlResult {
  readonly status: number;
  readonly result: string;
}

/** Sends a mutation as the person. */
export async function mutate(
  { world, own, login }: PersonContext,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<GraphqlResult> {
  const user = world.forge.users.find((each) => each.login === `${login}-${own.board.owner.slice(4)}`);
  const response = await fetch(`${world.forge.rootUrl}/api/graphql`, {
    method: "POST",
    headers: { authorization: `token ${user?.token ?? ""}` },
    body: JSON.stringify({ query, variables }),
  });
  const result = await response.text();
  return { status: result.includes('"errors"') ? 422 : response.status, result: result.slice(0, 300) };
}
