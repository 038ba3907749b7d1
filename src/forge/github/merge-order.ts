import type { MergeOrder, MergeResult, Ordered, RepositoryRef } from "../forge.ts";
import type { CarryOut } from "./carry-out.ts";
import type { Caller } from "./client.ts";
import type { ForgeClock } from "./clock.ts";
import { mergedIn, readPull } from "./pull-state.ts";
import type { OnLacking } from "./on-lacking.ts";

/** One order to merge, and what is needed to carry it out. */
export interface Merge {
  readonly caller: Caller;
  readonly carryOut: CarryOut;
  readonly clock: ForgeClock;
  readonly onLacking: OnLacking;
  readonly repository: RepositoryRef;
  readonly order: MergeOrder;
  /** On the clock: the end of what may be waited. */
  readonly until: number;
}

export type Merged = Ordered<MergeResult>;

export function mergedAs(sha: string): Merged {
  return { ok: true, value: { state: "merged", sha } };
}

/** Whether the pull request is merged by now, by us or by a person; null when it is not. */
export async function findMerged({ caller, repository, order }: Merge): Promise<Merged | null> {
  const pull = await readPull(caller, repository, order.number);
  return pull === null ? null : mergedIn(pull);
}
