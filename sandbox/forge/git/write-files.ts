import { randomUUID } from "node:crypto";
import type { Signature } from "./commits.ts";
import type { GitRepository } from "./git.ts";

interface FilesCommit {
  readonly parent: string | null;
  readonly message: string;
  readonly author: Signature;
  readonly committer: Signature;
  /** Path → content; null removes the file. */
  readonly files: Readonly<Record<string, string | Buffer | null>>;
}

/**
 * Writes a chain of commits with one `git fast-import`, starting at the first one's `parent`.
 * Creates `newBranch` if given, which must not exist. Returns the hashes.
 */
export async function commitFiles(
  repo: GitRepository,
  commits: readonly FilesCommit[],
  newBranch?: string,
): Promise<string[]> {
  const tempRef = `refs/forge/${randomUUID()}`;
  const parts: (string | Buffer)[] = [];
  for (const [index, commit] of commits.entries()) parts.push(...commitCommand(tempRef, commit, index));
  for (const index of commits.keys()) parts.push(`get-mark :${index + 1}\n`);
  if (newBranch !== undefined && commits.length > 0)
    parts.push(`reset refs/heads/${newBranch}\nfrom :${commits.length}\n\n`);
  parts.push(`reset ${tempRef}\nfrom ${"0".repeat(40)}\n\n`);
  const stream = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const text = await repo.text(["fast-import", "--quiet", "--force", "--date-format=raw"], { input: stream });
  return text.split("\n").filter((line) => line !== "");
}

function commitCommand(tempRef: string, commit: FilesCommit, index: number): (string | Buffer)[] {
  const parent = index === 0 ? commit.parent : `:${index}`;
  const parts: (string | Buffer)[] = [
    `commit ${tempRef}\nmark :${index + 1}\n`,
    `author ${signatureLine(commit.author)}\ncommitter ${signatureLine(commit.committer)}\n`,
    ...dataCommand(commit.message.endsWith("\n") ? commit.message : `${commit.message}\n`),
    parent === null ? "" : `from ${parent}\n`,
  ];
  for (const [path, content] of Object.entries(commit.files)) {
    if (content === null) parts.push(`D ${quotePath(path)}\n`);
    else parts.push(`M 100644 inline ${quotePath(path)}\n`, ...dataCommand(content));
  }
  parts.push("\n");
  return parts;
}

function dataCommand(content: string | Buffer): (string | Buffer)[] {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return [`data ${bytes.length}\n`, bytes, "\n"];
}

const signatureLine = ({ name, email, date }: Signature): string =>
  `${name.replace(/[<>\n]/g, "")} <${email.replace(/[<>\n]/g, "")}> ${Math.floor(Date.parse(date) / 1000)} +0000`;

const quotePath = (path: string): string =>
  `"${path.replace(/[\\"]/g, String.raw`\$&`).replace(/\n/g, String.raw`\n`)}"`;
