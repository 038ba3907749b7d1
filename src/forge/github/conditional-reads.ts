import { LRUCache } from "lru-cache";
import type { Arrived, Transport } from "./transport.ts";

const MAX_KEPT = 100;
/** A page of a hundred repositories is larger than this, and is not read often. */
const MAX_BYTES = 128 * 1024;

interface Kept {
  readonly etag: string;
  readonly answer: Arrived;
}

/**
 * Reads that repeat ask whether anything has changed: an answer of 304 costs nothing of the hour's budget
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api). Kept per account, for one must
 * not be shown what another may see.
 */
export function withConditionalReads(transport: Transport): Transport {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT });

  function keep(key: string, answer: Arrived): Arrived {
    const etag = answer.headers.get("etag");
    if (answer.status !== 200 || etag === null || answer.size > MAX_BYTES) kept.delete(key);
    else kept.set(key, { etag, answer });
    return answer;
  }

  return {
    async send(url, init, rules) {
      if (rules.readFor === undefined) return await transport.send(url, init, rules);
      const key = `${rules.readFor} ${url}`;
      const known = kept.get(key);
      const headers = new Headers(init.headers);
      if (known !== undefined) headers.set("if-none-match", known.etag);
      const answer = await transport.send(url, { ...init, headers }, rules);
      return answer.status === 304 && known !== undefined ? known.answer : keep(key, answer);
    },
  };
}
