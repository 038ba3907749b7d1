import { NODE_PREFIXES, nodeId } from "../../node-id.ts";
import type { AccountRow, AppRow } from "../../rows.ts";
import type { GraphqlObject, Scope } from "../scope.ts";

export function accountObject({ forge }: Scope, row: AccountRow): GraphqlObject {
  const resourcePath = row.type === "Bot" ? `/apps/${loginOf(row)}` : `/${row.login}`;
  return {
    __typename: row.type,
    id: nodeId(NODE_PREFIXES.account[row.type], row.id),
    databaseId: row.id,
    login: loginOf(row),
    name: row.name,
    email: "",
    avatarUrl: `${forge.urls.root}/avatars/u/${row.id}`,
    url: `${forge.urls.root}${resourcePath}`,
    resourcePath,
  };
}

/** GraphQL omits the `[bot]` that REST appends to a bot's login. */
const loginOf = (row: AccountRow): string => row.login.replace(/\[bot\]$/, "");

export function appObject(row: AppRow): GraphqlObject {
  return {
    __typename: "App",
    id: nodeId(NODE_PREFIXES.app, row.id),
    databaseId: row.id,
    name: row.name,
    slug: row.slug,
  };
}
