import { createHmac } from "node:crypto";
import type { GitRepository } from "./git.ts";

/**
 * The forge signs as GitHub does, in the header `gpgsig`, but by HMAC with a known key: nothing
 * depends on its secrecy.
 */
const KEY = "the sandbox forge";
const HEADER = /\ngpgsig (.+(?:\n .*)*)(?=\n)/;

const signatureOf = (unsigned: string): string => createHmac("sha256", KEY).update(unsigned).digest("hex");

/** Writes a signed copy of a commit and returns its hash. */
export async function signCommit(repo: GitRepository, sha: string): Promise<string> {
  const object = await repo.objects.read(sha);
  if (object === null) throw new Error(`commit ${sha} is missing in ${repo.path}`);
  const text = object.content.toString("utf8");
  const end = text.indexOf("\n\n");
  const signed = `${text.slice(0, end)}\ngpgsig ${signatureOf(text)}${text.slice(end)}`;
  return repo.text(["hash-object", "-t", "commit", "-w", "--stdin"], { input: signed });
}

/** The forge's signature of a commit; null without one that is valid. */
export function verifiedSignature(content: string): string | null {
  const head = content.slice(0, content.indexOf("\n\n") + 1);
  const signature = HEADER.exec(head)?.[1];
  if (signature === undefined) return null;
  return signatureOf(content.replace(HEADER, "")) === signature ? signature : null;
}
