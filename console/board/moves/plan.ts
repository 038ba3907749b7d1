import { useQueries, type QueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Client } from "../../api/client.ts";
import type { Keys } from "../../api/keys.ts";
import type { MovePlan, MovePlanStep } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";

/** How long a plan is used without reading GitHub again, in milliseconds. */
const FRESH_MS = 10_000;

/** Reads what a move would do; Trunkline reads GitHub for it. */
export const readPlan = async (client: Client, number: number, statusId: string): Promise<MovePlan> =>
  (await client.read("GET /v1/cards/{number}/move-plan", { path: { number }, query: { statusId } })).data;

const keyOf = (keys: Keys, number: number, statusId: string) => keys.cardPart(number, "move-plan", statusId);

/** The plan that was read a moment ago, for example when the card was picked up. */
export function freshPlan(
  queries: QueryClient,
  keys: Keys,
  number: number,
  statusId: string,
): MovePlan | undefined {
  const state = queries.getQueryState<MovePlan>(keyOf(keys, number, statusId));
  const isFresh = state && !state.isInvalidated && state.dataUpdatedAt > Date.now() - FRESH_MS;
  return isFresh ? state.data : undefined;
}

/** The plan of a move; undefined while it is read, or if that failed. */
export interface Preview {
  readonly plan: MovePlan | undefined;
  readonly isFailed: boolean;
}

/** The plans of a card's moves into these stages, by stage. Reads nothing while `number` is null. */
export function usePlans(number: number | null, statusIds: readonly string[]): ReadonlyMap<string, Preview> {
  const { client, keys } = useWorkspace();
  const asked = number === null ? [] : statusIds;
  const results = useQueries({
    queries: asked.map((statusId) => ({
      queryKey: keyOf(keys, number ?? 0, statusId),
      queryFn: () => readPlan(client, number ?? 0, statusId),
      staleTime: FRESH_MS,
      networkMode: "always" as const,
      retry: false,
    })),
    combine: (all) => all.map(({ data, isError }) => ({ plan: data, isFailed: isError })),
  });
  return useMemo(
    () =>
      new Map(asked.map((statusId, at) => [statusId, results[at] ?? { plan: undefined, isFailed: false }])),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `asked` is new each time
    [asked.join(), results],
  );
}

/** Whether a move would certainly be refused. GitHub may refuse others too. */
export const isRefused = ({ wouldMove, certainty }: MovePlan): boolean =>
  !wouldMove && certainty === "certain";

/** Why a plan refuses the move, in the words of GitHub or of the gate. */
export function reasonsOf({ reasons, requiredRole, heldRole }: MovePlan): readonly string[] {
  if (reasons.length > 0) return reasons.map(({ message }) => message);
  return [`Only a ${requiredRole} may move cards to this stage, and you are a ${heldRole}.`];
}

/**
 * Whether the user has to confirm a move to a stage that merges: it changes a shared branch, or may do so by the time it
 * is sent, because its plan is not certain or what refuses it may be gone.
 */
export const needsConfirmation = (plan: MovePlan): boolean =>
  isRefused(plan) || plan.certainty === "unknown" || plan.steps.some(({ action }) => action === "merge");

/** A step as a sentence without its subject, for example `merge pull request #12 into main`. */
export function stepText({ action, branchName, targetBranch, prNumber }: MovePlanStep): string {
  const request = prNumber === null ? "the new pull request" : `pull request #${prNumber}`;
  switch (action) {
    case "create_branch":
      return `create ${branchName}`;
    case "restore_branch":
      return `restore ${branchName}`;
    case "open_pull_request":
      return `open a pull request into ${targetBranch}`;
    case "mark_ready":
      return `mark ${request} ready for review`;
    case "merge":
      return `merge ${request} into ${targetBranch}`;
  }
}

/** The repository of a step, if the plan has several. */
export const placeOf = ({ steps }: MovePlan, { fullName }: MovePlanStep): string | null =>
  steps.some((step) => step.fullName !== fullName) ? fullName : null;
