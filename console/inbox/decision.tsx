import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../api/problem.ts";
import { hasRole } from "../api/session.ts";
import type { InboxItem } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Refused } from "../card/git/refused.tsx";
import { useAnnounce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { useToast } from "../components/toast.tsx";
import { useChoices, type Choice } from "./choices.ts";

/** What a person can decide about an item. A failed decision keeps the item and shows the service's words. */
export function Decision({ item }: { readonly item: InboxItem }) {
  const { board, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const choices = useChoices(item);
  const [running, setRunning] = useState<string | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const allowed = choices.filter(({ maintainerOnly = false }) =>
    hasRole(board.role, maintainerOnly ? "maintainer" : "member"),
  );
  const decide = async ({ label, done, run }: Choice): Promise<void> => {
    setRunning(label);
    setProblem(null);
    try {
      await run();
      toast({ title: done });
    } catch (error) {
      setProblem(error as Error);
      announce(`${label}: not done. ${messageOf(error)}`);
    }
    await queries.invalidateQueries({ queryKey: keys.inbox });
    setRunning(null);
  };
  return (
    <div className="inbox-decision">
      {allowed.map((choice) => (
        <Button
          key={choice.label}
          kind={choice.isDismissal ? "quiet" : "secondary"}
          isBusy={running !== null}
          data-dismiss={choice.isDismissal || undefined}
          onClick={() => void decide(choice)}
        >
          {choice.label}
        </Button>
      ))}
      {allowed.length < choices.length && (
        <p className="inbox-reason">
          {board.role === "viewer" ? "Viewers cannot decide this." : "Only a maintainer can decide this."}
        </p>
      )}
      {problem && <Refused error={problem} />}
    </div>
  );
}
