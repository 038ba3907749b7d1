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

/** A value of an object type. Fields that take arguments or are costly are functions. */
export type GraphqlObject = Readonly<Record<string, unknown>> & { readonly __typename: string };

/** What the resolvers of one call share. Each function makes the GraphQL object of one type. */
export interface Scope {
  readonly forge: ForgeContext;
  readonly caller: GraphqlCall["caller"];
  readonly budget: GraphqlCall["budget"];
  readonly operation: "query" | "mutation" | "subscription";
  readonly account: (id: number | null) => GraphqlObject | null;
  readonly accountOf: (row: AccountRow) => GraphqlObject;
  readonly app: (id: number) => GraphqlObject | null;
  readonly repository: (row: RepositoryRow) => GraphqlObject;
  /** `name` is the full name of an existing ref. */
  readonly ref: (repository: RepositoryRow, name: string, sha: string) => GraphqlObject;
  /** The Git object with this hash, of any type. */
  readonly gitObject: (repository: RepositoryRow, sha: string) => Promise<GraphqlObject | null>;
  readonly commit: (repository: RepositoryRow, sha: string | null) => Promise<GraphqlObject | null>;
  readonly pullRequest: (row: PullRequestRow) => GraphqlObject;
  readonly review: (row: ReviewRow) => GraphqlObject;
  readonly comment: (row: CommentRow) => GraphqlObject;
  readonly checkRun: (row: CheckRunRow) => GraphqlObject;
  readonly checkSuite: (row: CheckSuiteRow) => GraphqlObject;
  readonly statusContext: (row: StatusRow) => GraphqlObject;
  /** The check runs and statuses of a commit; null if it has none. */
  readonly rollup: (repository: RepositoryRow, sha: string) => GraphqlObject | null;
}

/** One mutation. Returns the fields of its payload without `clientMutationId`. */
export type Mutation<Input> = (args: { readonly input: Input }, scope: Scope) => Promise<object> | object;

/** `/owner/name`, the path below the forge's root URL. */
export const repositoryPath = ({ forge }: Scope, row: RepositoryRow): string =>
  `/${forge.state.accounts.need(row.ownerId).login}/${row.name}`;
