import type { InboxItem } from "../api/schema.d.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { approveProposal } from "../card/git/approve-proposal.ts";
import type { Stage } from "../card/moves/plan.tsx";

interface Offer {
  readonly label: string;
  readonly isDismissal?: boolean;
  readonly maintainerOnly?: boolean;
}

/** A call that a person can decide on with one click. */
interface Call extends Offer {
  /** The notice afterwards, without a period. */
  readonly done: string;
  readonly run: () => Promise<unknown>;
}

/** A move of the item's card to the top of a stage. It asks before it merges. */
export interface Move extends Offer {
  readonly number: number;
  readonly stage: Stage;
  /** Whether it waits until the card is ready. */
  readonly waits?: true;
}

/** Something that a person can decide about an item. */
export type Choice = Call | Move;

/** The choices about an item, the most likely one first. `stages` are those of the item's project. */
export function useChoices(item: InboxItem, stages: readonly Stage[]): readonly Choice[] {
  const own = useOwnChoices(item, stages);
  const dismiss = useWrite("DELETE /v1/inbox/{itemId}");
  if (!item.dismissible) return own;
  const run = () => dismiss.mutateAsync({ path: { itemId: item.id } });
  return [...own, { label: "Dismiss", done: "Dismissed", isDismissal: true, run }];
}

function useOwnChoices(item: InboxItem, stages: readonly Stage[]): readonly Choice[] {
  const { session } = useWorkspace();
  const cards = useCardChoices(item, stages);
  const adopt = useWrite("POST /v1/inbox/{itemId}/adopt");
  const change = useWrite("PATCH /v1/webhooks/{id}");
  const create = useWrite("POST /v1/cards");
  switch (item.kind) {
    case "promotion_blocked":
      return cards.moveTo(item.data.statusId, "again");
    case "pr_merged_outside":
      return cards.moveTo(item.data.statusId);
    case "move_disarmed":
      return cards.moveWhenReady(item.data.statusId);
    case "pr_closed_outside":
    case "waiting_stale":
    case "agent_stopped_reacting":
      return cards.giveUp();
    case "agent_gave_up":
      return [...cards.assignTo(session.user.id), ...cards.giveUp()];
    case "proposal_waiting":
      return cards.approve(item.data.headSha);
    case "branch_suggestion": {
      const run = () => adopt.mutateAsync({ path: { itemId: item.id }, query: {} });
      const label = item.card === null ? "Link the branch" : `Link it to #${item.card.number}`;
      return [{ label, done: "The branch is linked", run }];
    }
    case "error_reported": {
      const { title, url, monitorName } = item.data;
      const description = `Reported by ${monitorName}.${url === null ? "" : `\n\n${url}`}`;
      const body = { title, description, projectId: item.projectId };
      const run = () => create.mutateAsync({ body });
      return [{ label: "Write a card", done: "The card is in the backlog", run }];
    }
    case "webhook_paused": {
      const run = () => change.mutateAsync({ path: { id: item.data.webhookId }, body: { paused: false } });
      return [{ label: "Resume the webhook", done: "The webhook is resumed", maintainerOnly: true, run }];
    }
    case "branch_deleted":
    case "checks_broken":
    case "connection_broken":
    case "backmerge_open":
      return [];
  }
}

/** Choices about the card of an item; none if it has no card. */
function useCardChoices({ card, repository }: InboxItem, stages: readonly Stage[]) {
  const { client } = useWorkspace();
  const update = useWrite("PATCH /v1/cards/{number}");
  const path = { number: card?.number ?? 0 };
  const only = (choice: Choice): readonly Choice[] => (card ? [choice] : []);
  const stageOf = (statusId: string) => stages.find(({ id }) => id === statusId);
  const into = (statusId: string): string => stageOf(statusId)?.name ?? "the stage";
  const moveTo = (stage: Stage | undefined, label: string, waits?: true): readonly Choice[] =>
    stage ? only({ label, number: path.number, stage, ...(waits && { waits }) }) : [];
  return {
    moveTo: (statusId: string, again = "") =>
      moveTo(stageOf(statusId), `Move to ${into(statusId)} ${again}`.trim()),
    giveUp: () =>
      moveTo(
        stages.find(({ kind }) => kind === "backlog"),
        "Move back to the backlog",
      ),
    moveWhenReady: (statusId: string) =>
      moveTo(stageOf(statusId), `Move to ${into(statusId)} when ready`, true),
    assignTo: (assigneeId: string) =>
      only({
        label: "Assign it to me",
        done: `Card ${path.number} is yours`,
        run: () => update.mutateAsync({ path, body: { assigneeId } }),
      }),
    approve: (headSha: string) =>
      only({
        label: "Approve and merge",
        done: "Approved",
        run: () => approveProposal(client, path.number, { fullName: repository ?? undefined, headSha }),
      }),
  };
}
