import { createHmac, timingSafeEqual } from "node:crypto";

/** What a mirrored comment is, and where it stands. */
export interface MirrorPlace {
  readonly commentId: string;
  /** The repository's id on the forge, and the pull request's number: a mark copied elsewhere is not valid there. */
  readonly repositoryForgeId: number;
  readonly prNumber: number;
}

const MARK = /^<!-- trunkline:comment ([0-9a-f-]{36}) ([\w-]{43}) -->/;
/** How anything that looks like one of ours begins, with no end behind it. */
const OPEN_MARK = /<!--\s{0,20}trunkline:(?:(?!<!--)[^>])*$/i;
/** No mark is longer. */
const LONGEST_MARK = 400;

/** How a mirrored comment begins: unseen by readers, and made by nobody who has not the secret. */
export function markOf(secret: Buffer, place: MirrorPlace): string {
  return `<!-- trunkline:comment ${place.commentId} ${signatureOf(secret, place)} -->`;
}

/** The comment whose mirror at this place begins like this; null when it bears no mark, or one that is not valid here. */
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

/** A text without anything that looks like a mark of ours, nor what would look like one once others are taken out. */
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

/** A comment written on the forge as it is told here: PostgreSQL's text holds no NUL, and a mark copied from a mirror means nothing in anybody's mouth. */
export const tellableBody = (body: string): string => withoutMarks(body).replaceAll("\0", "").trim();

function signatureOf(secret: Buffer, { commentId, repositoryForgeId, prNumber }: MirrorPlace): string {
  const what = ["comment", commentId, repositoryForgeId, prNumber].join("\n");
  return createHmac("sha256", secret).update(what).digest("base64url");
}
