import type { ForgeContext } from "../context.ts";
import type { ApiCall } from "../hooks.ts";
import { isWrite } from "./call-counts.ts";
import { matches, type CallMatch, type InstallationOf } from "./match.ts";
import { takeSnapshot, type Snapshot } from "./snapshot.ts";

/** Reads that lag behind writes, as was observed on GitHub. */
export interface StaleReadSettings {
  /** How long reads return the state before a write. */
  readonly seconds: number;
  /** The writes that reads lag behind; default all. */
  readonly after?: CallMatch | undefined;
  /** The reads that lag; default all. */
  readonly reads?: CallMatch | undefined;
}

/** Time for reads that still use an expired snapshot. */
const GRACE_MS = 500;

export class StaleReads {
  #settings: StaleReadSettings | null = null;
  /** Oldest first. Reads use the oldest that has not expired. */
  #snapshots: { readonly snapshot: Snapshot; readonly until: number }[] = [];
  readonly #installationOf: InstallationOf;

  constructor(installationOf: InstallationOf) {
    this.#installationOf = installationOf;
  }

  set(settings: StaleReadSettings | null): void {
    this.#settings = settings;
    if (settings !== null) return;
    for (const { snapshot } of this.#snapshots) snapshot.close();
    this.#snapshots = [];
  }

  /** Makes reads lag from now on. */
  async takeSnapshot(forge: ForgeContext): Promise<void> {
    if (this.#settings === null) return;
    const { seconds } = this.#settings;
    const snapshot = await takeSnapshot(forge);
    // Push only after the await: other calls may have replaced the array.
    this.#snapshots.push({ snapshot, until: Date.now() + seconds * 1000 });
  }

  /** Takes a snapshot before a write that reads lag behind. */
  async beforeCall(call: ApiCall, forge: ForgeContext): Promise<void> {
    if (this.#settings === null || !isWrite(call)) return;
    if (matches(this.#settings.after ?? {}, call, this.#installationOf)) await this.takeSnapshot(forge);
  }

  /** The snapshot that serves a read; undefined for the current state. */
  snapshotFor(call: ApiCall): ForgeContext | undefined {
    this.#removeExpired(Date.now());
    if (this.#settings === null || isWrite(call)) return undefined;
    if (!matches(this.#settings.reads ?? {}, call, this.#installationOf)) return undefined;
    return this.#snapshots[0]?.snapshot.forge;
  }

  #removeExpired(now: number): void {
    const expired = this.#snapshots.filter((each) => each.until <= now);
    for (const { snapshot } of expired) setTimeout(() => snapshot.close(), GRACE_MS);
    this.#snapshots = this.#snapshots.filter((each) => each.until > now);
  }
}
