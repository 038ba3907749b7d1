/** The type prefixes of GraphQL node ids. */
export const NODE_PREFIXES = {
  account: { User: "U", Organization: "O", Bot: "BOT" },
  repository: "R",
  app: "A",
  installation: "MI",
  pullRequest: "PR",
  issue: "I",
  review: "PRR",
  comment: "IC",
  status: "SC",
  checkSuite: "CS",
  checkRun: "CR",
  release: "RE",
  ref: "REF",
  commit: "C",
  comparison: "CMP",
  combinedStatus: "ST",
  rollup: "SCR",
  rule: "RRU",
  ruleset: "RRS",
  reviewThread: "PRRT",
  workflow: "W",
  workflowRun: "WFR",
  mergeQueue: "MQ",
  mergeQueueEntry: "MQE",
} as const;

/** The node id of an object with a numeric id. */
export function nodeId(prefix: string, id: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(id));
  return `${prefix}_kgDO${bytes.subarray(2).toString("base64url")}`;
}

/** The node id of a named object of a repository, such as a commit or a ref. */
export function namedNodeId(prefix: string, repositoryId: number, name: string): string {
  return `${prefix}_kwDO${Buffer.from(`${repositoryId}:${name}`).toString("base64url")}`;
}

/** Parses a node id of this forge; null for any other text. */
export function readNodeId(
  text: string,
):
  | { readonly prefix: string; readonly id: number }
  | { readonly prefix: string; readonly repositoryId: number; readonly name: string }
  | null {
  const match = /^([A-Z]+)_(kgDO|kwDO)([A-Za-z0-9_-]+)$/.exec(text);
  if (match === null) return null;
  const [, prefix = "", form, rest = ""] = match;
  const bytes = Buffer.from(rest, "base64url");
  if (form === "kgDO") {
    if (bytes.length !== 6) return null;
    return { prefix, id: bytes.readUIntBE(0, 6) };
  }
  const [repositoryId = "", ...name] = bytes.toString("utf8").split(":");
  return { prefix, repositoryId: Number(repositoryId), name: name.join(":") };
}
