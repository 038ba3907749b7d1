import { Problem } from "../errors.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A body that has to be JSON in UTF-8, as text and as what it says. */
export function decode(body: Buffer): { text: string; parsed: unknown } {
  try {
    const text = utf8.decode(body);
    return { text, parsed: JSON.parse(text) };
  } catch (error) {
    throw new Problem("invalid", "The payload is not JSON.", { cause: error });
  }
}
