import { createHmac, timingSafeEqual } from "node:crypto";

/** A mirrored comment and its pull request. A copy of the mark on another one is not valid. */
interface MirrorPlace {
  readonly commentId: string;
  readonly repositoryForgeId: number;
  readonly prNumber: number;
}

const MARK = /^<!-- trunkline:comment ([0-9a-f-]{36}) ([\w-]{43}) -->/;
/** The beginning of anything that looks like a mark, without its end. */
const OPEN_MARK = /<!--\s{0,20}trunkline:(?:(?!<!--)[^>])*$/i;
/** No mark has more characters. */
const LONGEST_MARK = 400;

/** The first line of a mirrored comment: invisible, and signed with the secret. */
export function markOf(secret: Buffer, place: MirrorPlace): string {
  return `<!-- trunkline:comment ${place.commentId} ${signatureOf(secret, place)} -->`;
}

/** The comment that a text mirrors; null without a mark that is valid in this place. */
export function markedComment(
  secret: Buffer,
  text: string,
  place: Omit<MirrorPlace, "commentId">,
): string | null {
  const [, commentId = "", signature = ""] = MARK.exec(text.trimStart()) ?? [];
  if (commentId === "") return null;
  const expected = Buffer.from(signatureOf(secret, { ...place, commentId }));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given) ? commentId : null;
}

/** Removes everything that looks like a mark, also what looks like one after a removal. */
export function withoutMarks(text: string): string {
  let kept = "";
  for (const part of text.split(/(?<=-->)/)) {
    kept += part;
    if (!part.endsWith("-->")) continue;
    const from = Math.max(0, kept.length - LONGEST_MARK);
    const mark = kept.slice(from, -"-->".length).search(OPEN_MARK);
    if (mark >= 0) kept = kept.slice(0, from + mark);
  }
  return kept;
}

/** The stored text of a GitHub comment. */
export const storedBody = (body: string): string => withoutMarks(body).trim();

function signatureOf(secret: Buffer, { commentId, repositoryForgeId, prNumber }: MirrorPlace): string {
  const what = ["comment", commentId, repositoryForgeId, prNumber].join("\n");
  return createHmac("sha256", secret).update(what).digest("base64url");
}
