import type { Request, Response } from "express";
import { Problem, tooMany } from "../errors.ts";

/**
 * What Node keeps for a chunk besides its bytes (measured: 480). A sender may put each byte into a
 * chunk of its own.
 */
const CHUNK_BYTES = 512;
/** A body up to this size is ended only if no larger one arrives. Most deliveries of GitHub are smaller. */
const SMALL_BYTES = 64 * 1024;

export interface BodyLimits {
  /** Bytes of all bodies. */
  readonly bytes: number;
  /** Bytes of one holder's bodies; by default without a limit of their own. */
  readonly holderBytes?: number;
  /** The longest time for a body to arrive, in milliseconds. Without it, only the limit of all requests applies. */
  readonly arrivalMs?: number;
  /** Called when a body is ended. */
  readonly onEnd: () => void;
}

export interface HeldBody {
  /** Rejects if the body is ended before it has arrived. */
  readonly ended: Promise<never>;
  /** Stops counting its bytes. May be called again. */
  readonly release: () => void;
}

interface Body {
  readonly holder: string;
  bytes: number;
  isArriving: boolean;
  readonly end: (problem: Problem) => void;
}

/**
 * Limits the bytes of request bodies that a process holds. If a chunk exceeds the limit, the oldest
 * body that is still arriving is ended, of the holder with the most bytes; bodies above `SMALL_BYTES`
 * first. So a sender of many slow bodies delays only itself.
 */
export class HeldBodies {
  readonly #limits: BodyLimits;
  /** The oldest first. */
  readonly #bodies = new Set<Body>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** Counts the body of a request as it arrives. Must be called before the body is read. */
  hold(request: Request, response: Response, holder: string): HeldBody {
    const { arrivalMs, onEnd } = this.#limits;
    let reject: ((problem: Problem) => void) | undefined;
    const ended = new Promise<never>((_, fail) => (reject = fail));
    // The body may have been read before it is ended.
    ended.catch(() => undefined);
    const end = (problem: Problem): void => {
      release();
      response.set("Connection", "close");
      request.pause();
      onEnd();
      reject?.(problem);
    };
    const body: Body = { holder, bytes: 0, isArriving: true, end };
    const timer = arrivalMs === undefined ? undefined : setTimeout(() => end(late(arrivalMs)), arrivalMs);
    const release = (): void => {
      clearTimeout(timer);
      if (this.#bodies.delete(body)) this.#count(holder, -body.bytes);
    };
    this.#bodies.add(body);
    request.on("data", (chunk: Buffer) => this.#grow(body, chunk.length + CHUNK_BYTES));
    request.once("end", () => {
      body.isArriving = false;
      clearTimeout(timer);
    });
    return { ended, release };
  }

  #grow(body: Body, bytes: number): void {
    if (!this.#bodies.has(body)) return;
    body.bytes += bytes;
    this.#count(body.holder, bytes);
    const { bytes: most, holderBytes = Infinity } = this.#limits;
    if ((this.#bytesOf.get(body.holder) ?? 0) > holderBytes) body.end(holderFull());
    while (this.#bytes > most) {
      const ended = this.#next();
      if (!ended) return;
      ended.end(full());
    }
  }

  #count(holder: string, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#bytesOf.get(holder) ?? 0) + bytes;
    if (held > 0) this.#bytesOf.set(holder, held);
    else this.#bytesOf.delete(holder);
  }

  /** The body to end. */
  #next(): Body | undefined {
    const arriving = [...this.#bodies].filter(({ isArriving }) => isArriving);
    const large = arriving.filter(({ bytes }) => bytes > SMALL_BYTES);
    const candidates = large.length > 0 ? large : arriving;
    const held = ({ holder }: Body): number => this.#bytesOf.get(holder) ?? 0;
    const most = Math.max(...candidates.map(held));
    return candidates.find((body) => held(body) === most);
  }
}

const full = (): Problem =>
  new Problem("unavailable", "Too many large requests arrive at the same time. Send this one again.", {
    retryAfter: 1,
  });

const holderFull = (): Problem =>
  tooMany("The bodies of this board's calls are too large in total. Wait for their responses.", 1);

const late = (ms: number): Problem =>
  new Problem("too_slow", `The body did not arrive within ${ms / 1_000} seconds. Send it again.`);
