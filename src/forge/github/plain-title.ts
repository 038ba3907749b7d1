const MAX_BYTES = 256;

/** A title as one line of at most 256 bytes: commit and pull request titles take neither line breaks nor control characters. */
export function plainTitle(title: string): string {
  const line = title.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  if (Buffer.byteLength(line) <= MAX_BYTES) return line;
  let short = "";
  let bytes = Buffer.byteLength("…");
  for (const character of line) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_BYTES) break;
    short += character;
  }
  return `${short.trimEnd()}…`;
}
