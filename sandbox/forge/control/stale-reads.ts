import type { ForgeContext } from "../context.ts";
import type { ApiCall } from "../hooks.ts";
import { isWrite } from "./call-counts.ts";
import { matches, type CallMatch, type InstallationOf } from "./match.ts";
import { takeSnapshot, type Snapshot } from "./snapshot.ts";

/** Reads that lag behind: GitHub was seen answering a read with what was there before a write just made. */
export interface StaleReads {
  /** How long after a write reads still see what was there before it. */
  readonly seconds: number;
  /** Which writes are not seen at once; all when left out. */
  readonly after?: CallMatch | undefined;
  /** Which reads lag; all when left out. */
  readonly reads?: CallMatch | undefined;
}

const GRACE_MS = 500;

export class LaggingReads {
  #wish: StaleReads | null = null;
  /** Oldest first. A read sees the oldest that has not run out: the forge as it was `seconds` ago. */
  #views: { readonly view: Snapshot; readonly until: number }[] = [];
  readonly #installationOf: InstallationOf;

  constructor(installationOf: InstallationOf) {
    this.#installationOf = installationOf;
  }

  set(wish: StaleReads | null): void {
    this.#wish = wish;
    if (wish !== null) return;
    for (const { view } of this.#views) view.close();
    this.#views = [];
  }

  /** Makes reads lag from now on, as if a write had just been made: for pushes, which are no API calls. */
  async takeSnapshot(forge: ForgeContext): Promise<void> {
    if (this.#wish === null) return;
    const { seconds } = this.#wish;
    const view = await takeSnapshot(forge);
    // Only now is it known which views there are: calls that came meanwhile may have dropped some.
    this.#views.push({ view, until: Date.now() + seconds * 1000 });
  }

  /** Called before each call has its effect: keeps what a write is about to change. */
  async beforeCall(call: ApiCall, forge: ForgeContext): Promise<void> {
    if (this.#wish === null || !isWrite(call)) return;
    if (matches(this.#wish.after ?? {}, call, this.#installationOf)) await this.takeSnapshot(forge);
  }

  /** The older forge that answers this read; undefined for the true one. */
  snapshotFor(call: ApiCall): ForgeContext | undefined {
    this.#drop(Date.now());
    if (this.#wish === null || isWrite(call) || !matches(this.#wish.reads ?? {}, call, this.#installationOf))
      return undefined;
    return this.#views[0]?.view.forge;
  }

  #drop(now: number): void {
    const over = this.#views.filter((each) => each.until <= now);
    // A read that began in time may still be under way.
    for (const { view } of over) setTimeout(() => view.close(), GRACE_MS);
    this.#views = this.#views.filter((each) => each.until > now);
  }
}
