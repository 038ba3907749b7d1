import type { ForgeContext } from "../context.ts";
import type { GraphqlCall } from "../hooks.ts";
import type {
  AccountRow,
  CheckRunRow,
  CheckSuiteRow,
  CommentRow,
  PullRequestRow,
  RepositoryRow,
  ReviewRow,
  StatusRow,
} from "../rows.ts";

/** A value of an object type: its fields by name, those with arguments or a cost as functions. */
export type GraphqlObject = Readonly<Record<string, unknown>> & { readonly __typename: string };

/** What resolvers of one call work with: the forge, who asks, and how each kind of thing is shown. */
export interface Scope {
  readonly forge: ForgeContext;
  readonly caller: GraphqlCall["caller"];
  readonly budget: GraphqlCall["budget"];
  readonly operation: "query" | "mutation" | "subscription";
  readonly account: (id: number | null) => GraphqlObject | null;
  readonly accountOf: (row: AccountRow) => GraphqlObject;
  readonly app: (id: number) => GraphqlObject | null;
  readonly repository: (row: RepositoryRow) => GraphqlObject;
  /** A ref that is there, by its whole name. */
  readonly ref: (repository: RepositoryRow, name: string, sha: string) => GraphqlObject;
  /** Whatever git object has this hash. */
  readonly gitObject: (repository: RepositoryRow, sha: string) => Promise<GraphqlObject | null>;
  readonly commit: (repository: RepositoryRow, sha: string | null) => Promise<GraphqlObject | null>;
  readonly pullRequest: (row: PullRequestRow) => GraphqlObject;
  readonly review: (row: ReviewRow) => GraphqlObject;
  readonly comment: (row: CommentRow) => GraphqlObject;
  readonly checkRun: (row: CheckRunRow) => GraphqlObject;
  readonly checkSuite: (row: CheckSuiteRow) => GraphqlObject;
  readonly statusContext: (row: StatusRow) => GraphqlObject;
  /** All that was reported on a commit; null where nothing was. */
  readonly rollup: (repository: RepositoryRow, sha: string) => GraphqlObject | null;
}

/** The branch part of a whole ref name, or the tag's. */
export const shortRefName = (name: string): string => name.replace(/^refs\/(?:heads|tags)\//, "");
