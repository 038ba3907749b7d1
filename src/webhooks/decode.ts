import { Problem } from "../errors.ts";

/** A body that has to be JSON in UTF-8, as text and as what it says. */
export function decode(body: Buffer): { text: string; parsed: unknown } {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return { text, parsed: JSON.parse(text) };
  } catch (error) {
    throw new Problem("invalid", "The payload is not JSON.", { cause: error });
  }
}
