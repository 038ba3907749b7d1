import type { InboxItem } from "../api/schema.d.ts";
import { adviceOn } from "../card/moves/advice.ts";

export const TITLES: Readonly<Record<InboxItem["kind"], string>> = {
  promotion_blocked: "Move refused",
  branch_suggestion: "A branch looks like it belongs to a card",
  branch_deleted: "The branch of a card was deleted",
  error_reported: "A monitor reported an error",
  pr_merged_outside: "A pull request was merged outside of Trunkline",
  pr_closed_outside: "A pull request was closed outside of Trunkline",
  checks_broken: "Checks fail",
  move_disarmed: "A move no longer waits",
  waiting_stale: "A card has waited for a long time",
  connection_broken: "A connection to GitHub is broken",
  backmerge_open: "A branch lacks commits",
  proposal_waiting: "An agent's proposal waits for approval",
  agent_gave_up: "An agent gave up",
  agent_stopped_reacting: "An agent stopped reacting",
  webhook_paused: "A webhook was paused",
};

type Broken = Extract<InboxItem, { kind: "connection_broken" }>["data"]["broken"];

const SETTINGS = "On GitHub, in the settings of the account, under Installed GitHub Apps";
const CONNECTIONS: Readonly<Record<Broken, string>> = {
  uninstalled: "An owner of the account installs the App on it again.",
  suspended: `${SETTINGS}, an owner ends the suspension.`,
  refused: `${SETTINGS}, an owner checks that the App is installed and has this account's repositories.`,
  not_granted: `${SETTINGS}, an owner gives the App access to the repository again.`,
  permissions: `${SETTINGS}, an owner accepts the App's new permissions.`,
};

/** What to do about an item, and where. */
export function adviceFor(item: InboxItem): string {
  switch (item.kind) {
    case "promotion_blocked":
      return adviceOn(item.data.reasons).join(" ");
    case "branch_suggestion":
      return "Link it if the work belongs to the card: its pull request then follows the card.";
    case "branch_deleted":
      return "Push the branch again if the work goes on. Otherwise dismiss this.";
    case "error_reported":
      return "Write a card for it, or dismiss it. It returns if the error is reported again.";
    case "pr_merged_outside":
      return "Move the card to the stage that the merge belongs to.";
    case "pr_closed_outside":
      return "Reopen the pull request on GitHub, or move the card back.";
    case "checks_broken":
      return "Push a correction to the card's branch, or run the checks again on GitHub.";
    case "move_disarmed":
      return "Look at the card. Then let the move wait again, or dismiss this.";
    case "waiting_stale":
      return "Ask for news in a comment, or move the card back.";
    case "connection_broken":
      return CONNECTIONS[item.data.broken];
    case "backmerge_open":
      return item.data.prNumber === null
        ? `Open and merge a pull request that brings the commit into ${item.data.targetBranch}.`
        : "Merge the pull request on GitHub.";
    case "proposal_waiting":
      return "Read the change on GitHub. An approval merges it into the card's branch, as you.";
    case "agent_gave_up":
      return "Take the card over, or move the card back.";
    case "agent_stopped_reacting":
      return "Remind the agent on the pull request, or move the card back.";
    case "webhook_paused":
      return "Check the receiver. A resumed webhook sends what it has missed.";
  }
}
