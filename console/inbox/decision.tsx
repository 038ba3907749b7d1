import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../api/problem.ts";
import { useFlow } from "../api/reads.ts";
import { hasRole } from "../api/session.ts";
import type { InboxItem } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { MergeQuestion } from "../board/merge-question.tsx";
import { Refused } from "../card/git/refused.tsx";
import { useMoveToTop, type MoveToTop } from "../card/moves/use-move-to-top.ts";
import { useAnnounce } from "../components/announcer.tsx";
import { Button } from "../components/button.tsx";
import { useToast } from "../components/toast.tsx";
import { Ago } from "../text/time.tsx";
import { useChoices, type Choice, type Move } from "./choices.ts";

/** Why the move that was just decided on did not happen. */
interface NotMoved {
  readonly reason: string;
  readonly at: string;
}

/** What a person can decide about an item. A failed decision keeps the item and shows the service's words. */
export function Decision({ item }: { readonly item: InboxItem }) {
  const { board } = useWorkspace();
  const { data: flow } = useFlow(item.projectId);
  const stages = flow?.stages ?? [];
  const { move, question, confirmMove } = useMoveToTop(item.projectId, stages);
  const { decide, running, problem, notMoved } = useDecide(move);
  const choices = useChoices(item, stages);
  const allowed = choices.filter(({ maintainerOnly = false }) =>
    hasRole(board.role, maintainerOnly ? "maintainer" : "member"),
  );
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
      {notMoved && (
        <p className="form-problem">
          Not moved {item.kind === "promotion_blocked" && "again "}
          <Ago at={notMoved.at} />: <bdi>{notMoved.reason}</bdi>
        </p>
      )}
      <MergeQuestion question={question} onAnswer={confirmMove} />
    </div>
  );
}

/** Does what a person decides, and keeps why that failed. */
function useDecide(move: MoveToTop["move"]) {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const toast = useToast();
  const [running, setRunning] = useState<string | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const [notMoved, setNotMoved] = useState<NotMoved | null>(null);
  const moveCard = async ({ number, stage, waits }: Move): Promise<void> => {
    const { data: card } = await client.read("GET /v1/cards/{number}", { path: { number } });
    const outcome = await move(card, stage, waits);
    if (outcome?.state !== "refused" && outcome?.state !== "failed") return;
    const reason = outcome.state === "refused" ? outcome.blocked.message : outcome.message;
    setNotMoved({ reason, at: new Date().toISOString() });
  };
  const decide = async (choice: Choice): Promise<void> => {
    setRunning(choice.label);
    setProblem(null);
    setNotMoved(null);
    try {
      if ("stage" in choice) await moveCard(choice);
      else {
        await choice.run();
        toast({ title: choice.done });
      }
    } catch (error) {
      setProblem(error as Error);
      announce(`${choice.label}: not done. ${messageOf(error)}`);
    }
    await queries.invalidateQueries({ queryKey: keys.inbox });
    setRunning(null);
  };
  return { decide, running, problem, notMoved };
}
