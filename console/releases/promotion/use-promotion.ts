import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { PromotionOutcome } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { useOperation, useOutcome } from "../reads.ts";

export interface Promotion {
  /** Of the last promotion that this page has seen; null before the first one. */
  readonly outcome: PromotionOutcome | null;
  readonly statusId: string | null;
  readonly operationId: string | null;
  readonly isRunning: boolean;
  readonly isCancelled: boolean;
  readonly error: Error | null;
  readonly start: (statusId: string, taskNumbers: readonly number[]) => void;
  readonly cancel: () => void;
  readonly close: () => void;
}

/**
 * The promotion of a release. The call that starts it responds at its end, so its progress is read from the operation,
 * also if it was started in another page.
 */
export function usePromotion(id: string): Promotion & {
  /** Another action that is running. */
  readonly other: string | null;
} {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const promote = useWrite("POST /v1/releases/{id}/promote");
  const stop = useWrite("POST /v1/operations/{operationId}/cancel");
  const { data } = useOperation(id, promote.isPending);
  const operation = data?.operation ?? null;
  const running = operation?.kind === "promote" ? operation : null;
  const [seen, setSeen] = useState<{ readonly id: string; readonly statusId: string | null } | null>(null);
  if (running && running.id !== seen?.id) setSeen(running);
  const [target, setTarget] = useState<string | null>(null);
  const polled = useOutcome(id, seen?.id ?? null).data;
  const outcome = polled ?? promote.data?.data ?? null;
  const isRunning = promote.isPending || running !== null;
  const result = !isRunning && outcome?.pending.length === 0 ? resultOf(outcome) : null;
  useEffect(() => {
    if (result !== null) announce(result);
  }, [announce, result]);
  const reread = (): void => void queries.invalidateQueries({ queryKey: keys.list("releases") });
  return {
    outcome,
    statusId: seen?.statusId ?? target,
    operationId: running?.id ?? null,
    isRunning,
    isCancelled: running?.isCancelled ?? false,
    other: running ? null : (operation?.kind ?? null),
    error: promote.error ?? stop.error,
    start: (statusId, taskNumbers) => {
      setSeen(null);
      setTarget(statusId);
      stop.reset();
      promote.mutate({ path: { id }, body: { statusId, taskNumbers } }, { onSettled: reread });
    },
    cancel: () => {
      if (running && !stop.isPending) {
        stop.mutate({ path: { operationId: running.id } }, { onSettled: reread });
      }
    },
    close: () => {
      setSeen(null);
      promote.reset();
      stop.reset();
    },
  };
}

type SkipReason = PromotionOutcome["skipped"][number]["reason"];

/** Why cards were not moved, after their number. */
const SKIPPED: Readonly<Record<SkipReason, string>> = {
  already_there: "already there",
  being_moved: "being moved by somebody else",
  cancelled: "cancelled",
  deleted: "deleted",
  not_permitted: "not permitted",
  stage_removed: "not moved, as the stage was removed",
};

/** Says how many cards were moved, refused and left, for example `1 promoted, 1 already there`. */
export function resultOf({ promoted, refused, skipped }: PromotionOutcome): string {
  const counts = new Map([["promoted", promoted.length]]);
  if (refused.length > 0) counts.set("refused", refused.length);
  for (const { reason } of skipped) {
    const words = SKIPPED[reason];
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].map(([words, count]) => `${count} ${words}`).join(", ");
}
