import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem, messageOf } from "../../api/problem.ts";
import type { PickRefusal } from "../../api/schema.d.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useToast } from "../../components/toast.tsx";
import { changeOf, pickNotice, type PickChange } from "./pick-result.ts";

/** Why a card was not picked. */
export interface PickProblem {
  readonly message: string;
  readonly repository: string;
  /** The stage that the card was in, if it was in the release. */
  readonly statusId: string | null | undefined;
}

export interface Picks {
  /** The card that is being picked. */
  readonly running: number | null;
  readonly problems: ReadonlyMap<number, PickProblem>;
  /** Picks cards one after the other; a refusal does not stop the others. Returns those that are in the release now. */
  pick(numbers: readonly number[]): Promise<readonly number[]>;
}

/** Picks merged cards into a frozen release. What GitHub says about a card stays with that card. */
export function usePicks(id: string): Picks {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const write = useWrite("POST /v1/releases/{id}/pick");
  const [running, setRunning] = useState<number | null>(null);
  const [problems, setProblems] = useState<ReadonlyMap<number, PickProblem>>(new Map());
  // Null if the read fails, which does not undo a pick.
  const read = () => client.read("GET /v1/releases/{id}", { path: { id } }).catch(() => null);
  const pick = async (numbers: readonly number[]): Promise<readonly number[]> => {
    if (running !== null) return [];
    const changes = new Map<number, PickChange>();
    setRunning(numbers[0] ?? null);
    let before = await read();
    setProblems((before) => new Map([...before].filter(([number]) => !numbers.includes(number))));
    for (const number of numbers) {
      setRunning(number);
      try {
        await write.mutateAsync({ path: { id }, body: { taskNumber: number } });
        const after = await read();
        changes.set(number, before && after ? changeOf(before.data, after.data, number) : "picked");
        before = after;
      } catch (error) {
        const card = before?.data.cards.find((each) => each.number === number);
        const problem = { ...problemOf(error), statusId: card?.statusId };
        setProblems((before) => new Map([...before, [number, problem]]));
        if (!(error instanceof ApiProblem && error.status === 409)) break;
      }
    }
    await queries.invalidateQueries({ queryKey: keys.list("releases") });
    setRunning(null);
    toast({
      kind: changes.size === numbers.length ? "done" : "failed",
      title: pickNotice(changes, numbers),
    });
    return [...changes.keys()];
  };
  return { running, problems, pick };
}

function problemOf(error: unknown): Omit<PickProblem, "statusId"> {
  const body = error instanceof ApiProblem ? (error.body as Partial<PickRefusal>) : {};
  return { message: messageOf(error), repository: body.repository ?? "" };
}
