import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem, messageOf } from "../api/problem.ts";
import type { PickRefusal } from "../api/schema.d.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useToast } from "../components/toast.tsx";

/** Why a card was not picked. */
export interface PickProblem {
  readonly message: string;
  readonly repository: string;
}

export interface Picks {
  /** The card that is being picked. */
  readonly running: number | null;
  readonly problems: ReadonlyMap<number, PickProblem>;
  /** Picks cards one after the other; a refusal does not stop the others. Returns the picked ones. */
  pick(numbers: readonly number[]): Promise<readonly number[]>;
}

/** Picks merged cards into a frozen release. What GitHub says about a card stays with that card. */
export function usePicks(id: string): Picks {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const write = useWrite("POST /v1/releases/{id}/pick");
  const [running, setRunning] = useState<number | null>(null);
  const [problems, setProblems] = useState<ReadonlyMap<number, PickProblem>>(new Map());
  const pick = async (numbers: readonly number[]): Promise<readonly number[]> => {
    if (running !== null) return [];
    const picked: number[] = [];
    setProblems((before) => new Map([...before].filter(([number]) => !numbers.includes(number))));
    for (const number of numbers) {
      setRunning(number);
      try {
        await write.mutateAsync({ path: { id }, body: { taskNumber: number } });
        picked.push(number);
      } catch (error) {
        const problem = problemOf(error);
        setProblems((before) => new Map([...before, [number, problem]]));
        if (!(error instanceof ApiProblem && error.status === 409)) break;
      }
    }
    await queries.invalidateQueries({ queryKey: keys.list("releases") });
    setRunning(null);
    toast({ kind: picked.length === numbers.length ? "done" : "failed", title: resultOf(picked, numbers) });
    return picked;
  };
  return { running, problems, pick };
}

function problemOf(error: unknown): PickProblem {
  const body = error instanceof ApiProblem ? (error.body as Partial<PickRefusal>) : {};
  return { message: messageOf(error), repository: body.repository ?? "" };
}

function resultOf(picked: readonly number[], asked: readonly number[]): string {
  const [only] = asked;
  if (asked.length === 1)
    return picked.length === 1 ? `Card ${only} was picked` : `Card ${only} was not picked`;
  return `${picked.length} of ${asked.length} cards were picked`;
}
