import { useMutation, useMutationState, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiProblem, messageOf } from "../../api/problem.ts";
import type { Card } from "../../api/schema.d.ts";
import { readStorage, writeStorage } from "../../api/storage.ts";
import { useWorkspace } from "../../api/workspace.tsx";

/** A title to create a card of, with its idempotency key. */
interface NewCard {
  readonly title: string;
  readonly key: string;
}

export interface NewCards {
  /** Creates a card after those that are being created. */
  readonly add: (title: string) => void;
  /** Titles whose cards are being created, in their order. */
  readonly pending: readonly string[];
  /** Titles whose cards were not created, in their order: the service refused or did not respond, or the page was left. */
  readonly failed: readonly string[];
  /** Why the last of them was not created. */
  readonly problem: string | undefined;
  /** Creates the failed ones again, in their order. */
  readonly retry: () => void;
}

/**
 * Creates cards of a stage one after the other, in the order of their titles. It goes on when the form is closed, and
 * remembers in this tab what is not created yet.
 */
export function useNewCards(projectId: string, statusId: string, onCreated: (card: Card) => void): NewCards {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const name = `new-cards:${client.workspaceId}:${projectId}:${statusId}`;
  const mutationKey = [name];
  const { mutate } = useMutation<Card, Error, NewCard>({
    mutationKey,
    // One after the other.
    scope: { id: name },
    networkMode: "always",
    gcTime: Number.POSITIVE_INFINITY,
    mutationFn: async ({ title, key }) =>
      (await client.write("POST /v1/cards", { body: { title, projectId, statusId } }, key)).data,
    onSuccess: onCreated,
  });
  const sent = useMutationState({
    filters: { mutationKey },
    select: ({ state: { status, error, variables } }) => ({ status, error, card: variables as NewCard }),
  });
  const [left, setLeft] = useState(() => storedCards(name));
  const of = (wanted: string) => sent.filter(({ status }) => status === wanted);
  const failed = of("error");
  const unsent = [
    ...left.filter(({ key }) => sent.every(({ card }) => card.key !== key)),
    ...failed.map(({ card }) => card),
  ];
  const pending = of("pending").map(({ card }) => card);
  const stored = JSON.stringify([...unsent, ...pending]);
  useEffect(() => writeStorage("sessionStorage", name, stored === "[]" ? null : stored), [name, stored]);
  const retry = (): void => {
    setLeft([]);
    const mutations = queries.getMutationCache();
    for (const mutation of mutations.findAll({ mutationKey, status: "error" })) mutations.remove(mutation);
    for (const card of unsent) mutate(isRefused(card, failed) ? { ...card, key: crypto.randomUUID() } : card);
  };
  const problem = failed.at(-1)?.error;
  return {
    add: (title) => mutate({ title, key: crypto.randomUUID() }),
    pending: pending.map(({ title }) => title),
    failed: unsent.map(({ title }) => title),
    problem: problem ? messageOf(problem) : undefined,
    retry,
  };
}

/** Whether the service has refused a card, so that its key would return the same response. */
const isRefused = ({ key }: NewCard, failed: readonly { error: unknown; card: NewCard }[]): boolean =>
  failed.some(({ card, error }) => card.key === key && error instanceof ApiProblem && error.status < 500);

function storedCards(name: string): readonly NewCard[] {
  return JSON.parse(readStorage("sessionStorage", name) ?? "[]") as readonly NewCard[];
}
