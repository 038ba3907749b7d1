import { useEffect } from "react";
import { useRefusals } from "../api/reads.ts";
import type { Flow, ReleaseDetails } from "../api/schema.d.ts";
import { hasRole } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { messageOf } from "../api/problem.ts";
import { useToast } from "../components/toast.tsx";
import { AddCards } from "./add-cards.tsx";
import { missingFrom, missingIn } from "./card-warning.tsx";
import { pickableIn } from "./picks/pick-result.ts";
import { useReleasePreview } from "./reads.ts";
import { ScopeList } from "./scope-list.tsx";
import { stateOf } from "./state-badge.tsx";
import { usePicks } from "./picks/use-picks.ts";
import { useScope } from "./use-scope.ts";

interface Props {
  readonly release: ReleaseDetails;
  readonly flow: Flow;
  /** While an action on the whole release runs. */
  readonly isBusy: boolean;
  readonly onPicking: (isPicking: boolean) => void;
}

/** The cards of a release beside those that can be added: chosen before the freeze, picked after it. */
export function ReleaseScope({ release, flow, isBusy, onPicking }: Props) {
  const { board } = useWorkspace();
  const { id, cards } = release;
  const state = stateOf(release);
  const adding = useScope(id);
  const picks = usePicks(id);
  const remove = useRemove(id);
  const toast = useToast();
  const refused = useRefusals(release.projectId);
  const { data: preview } = useReleasePreview(id, state === "frozen");
  const missing = { open: [], frozen: missingIn(release, preview), completed: missingFrom(release) }[state];
  const isPicking = picks.running !== null;
  useEffect(() => onPicking(isPicking), [onPicking, isPicking]);
  const mayChange = hasRole(board.role, "member") && state !== "completed" && flow.releases;
  const missingNumbers = new Set(missing.map(({ number }) => number));
  const mayPick = mayChange && state === "frozen";
  const pickable = mayPick && preview ? pickableIn(release, preview) : new Set<number>();
  const waits = isBusy || isPicking || adding.isPending || remove.isPending;
  const add = async (numbers: readonly number[]): Promise<readonly number[]> => {
    if (state === "frozen") return picks.pick(numbers);
    const isSaved = await adding.mutateAsync({ add: numbers }).then(
      () => true,
      () => false,
    );
    if (!isSaved) return [];
    const what = numbers.length === 1 ? `Card ${numbers[0]} was` : `${numbers.length} cards were`;
    toast({ title: `${what} added to the release` });
    return numbers;
  };
  return (
    <div className="release-columns" data-single={!mayChange || undefined}>
      <section className="release-panel" aria-labelledby="release-cards">
        <h2 id="release-cards">Cards</h2>
        {cards.length === 0 ? (
          <p className="release-hint">No card is in the release yet.</p>
        ) : (
          <>
            {state === "open" && cards.some(({ statusId }) => statusId !== flow.stages.at(-1)?.id) && (
              <p className="release-hint">
                A freeze takes merged work only. A card that is merged later has to be picked.
              </p>
            )}
            {state === "frozen" && missing.length > 0 && (
              <p className="release-hint">
                A card that is not on the release branch will not be in the release, unless it is picked after
                its merge.
              </p>
            )}
            <ScopeList
              cards={cards}
              stageName={(stageId) =>
                flow.stages.find((each) => each.id === stageId)?.name ?? "a removed stage"
              }
              isCompleted={state === "completed"}
              refused={refused}
              problems={picks.problems}
              missing={missingNumbers}
              unmerged={new Set(preview?.unmergedCards)}
              pickable={pickable}
              isBusy={waits}
              picking={picks.running}
              onRemove={mayChange && state === "open" ? ({ number }) => remove.run(number) : null}
              onPick={(number) => void picks.pick([number])}
            />
          </>
        )}
      </section>
      {mayChange && (
        <AddCards
          key={state}
          release={release}
          flow={flow}
          isBusy={waits}
          isAdding={isPicking || adding.isPending}
          onAdd={add}
          error={state === "open" ? adding.error : null}
          problems={picks.problems}
        />
      )}
    </div>
  );
}

/** Removes a card and offers to add it again. */
function useRemove(id: string) {
  const scope = useScope(id);
  const toast = useToast();
  const failed = (error: Error): void =>
    toast({ kind: "failed", title: "The cards were not changed", description: messageOf(error) });
  const run = (number: number): void =>
    scope.mutate(
      { remove: [number] },
      {
        onSuccess: () =>
          toast({
            title: `Card ${number} was removed from the release`,
            action: { label: "Undo", run: () => scope.mutate({ add: [number] }, { onError: failed }) },
          }),
        onError: failed,
      },
    );
  return { run, isPending: scope.isPending };
}
