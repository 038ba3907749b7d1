import { useQueryClient } from "@tanstack/react-query";
import type { Input } from "../../api/client.ts";
import { messageOf } from "../../api/problem.ts";
import type { CardSnapshot } from "../../api/reads.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { useToast } from "../../components/toast.tsx";

type Changes = NonNullable<Input<"PATCH /v1/cards/{number}">["body"]>;

/** Changes properties of a card; `done` is announced, a failure is shown and the property stays as it was. */
export function usePatchCard(card: CardSnapshot): {
  readonly patch: (changes: Changes, done: string) => void;
  readonly isBusy: boolean;
} {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const { mutate, isPending } = useWrite("PATCH /v1/cards/{number}");
  const patch = (body: Changes, done: string): void =>
    mutate(
      { path: { number: card.number }, body },
      {
        onSuccess: ({ data, feedSeq }) => {
          queries.setQueryData(keys.card(card.number), { ...data, feedSeq: feedSeq ?? card.feedSeq });
          announce(done);
        },
        onError: (error) => toast({ kind: "failed", title: "Not changed", description: messageOf(error) }),
      },
    );
  return { patch, isBusy: isPending };
}
