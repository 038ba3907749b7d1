import type { Pushed } from "../forge/events.ts";
import type { CardHead } from "../store/cards/cards.ts";
import type { NewInboxItem } from "../store/inbox/stored-items.ts";
import type { Actor } from "../store/events/timeline.ts";

/** Names a branch among the inbox's items about branches. */
export const branchKey = (repositoryId: string, branchName: string): string =>
  `${repositoryId}:${branchName}`;

/** What the inbox says of a card's branch that somebody deleted before it was merged. */
export const deletedBranchItem = (
  card: CardHead,
  repositoryId: string,
  { branchName, before, at, sender }: Pushed,
  { login }: Actor,
): NewInboxItem => ({
  workspaceId: card.workspaceId,
  projectId: card.projectId,
  cardId: card.id,
  repositoryId,
  kind: "branch_deleted",
  naturalKey: branchKey(repositoryId, branchName),
  detail: sender
    ? `${login} deleted ${branchName}, the card's branch, before it was merged.`
    : `${branchName}, the card's branch, was deleted before it was merged.`,
  data: { branchName, sha: before, login },
  at,
});

/** What the inbox says of a branch that somebody made and named as a card's branch would be. */
export const suggestedBranchItem = (
  card: CardHead,
  repositoryId: string,
  { branchName, login, at }: StrayBranch,
): NewInboxItem => ({
  workspaceId: card.workspaceId,
  projectId: card.projectId,
  cardId: card.id,
  repositoryId,
  kind: "branch_suggestion",
  naturalKey: branchKey(repositoryId, branchName),
  detail: login
    ? `${login} pushed ${branchName}, which is named like a branch of card ${card.number}.`
    : `${branchName} is named like a branch of card ${card.number}.`,
  data: { branchName, login },
  at,
});

/** A branch that belongs to no card, and who was seen to push to it, if anybody. */
export interface StrayBranch {
  readonly repositoryId: string;
  readonly branchName: string;
  readonly login: string | null;
  readonly at: string | null;
}
