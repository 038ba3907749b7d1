import type { Event } from "../../api/schema.d.ts";

export type Kind = Event["kind"];

/** The subjects of events, in the order of the form. */
export const SUBJECTS = [
  "Cards",
  "Moves",
  "Comments",
  "Branches and pull requests",
  "Agents",
  "Releases",
  "Board",
] as const;

/** All kinds of events, with their subject and meaning. */
export const KINDS: Readonly<Record<Kind, readonly [subject: (typeof SUBJECTS)[number], text: string]>> = {
  card_created: ["Cards", "A card was created"],
  updated: ["Cards", "A card was changed"],
  card_deleted: ["Cards", "A card was deleted"],
  status_changed: ["Cards", "A card was moved to another stage"],
  card_reordered: ["Cards", "A card was moved within its column"],
  claimed: ["Cards", "A card was claimed"],
  claim_released: ["Cards", "A claim was given back"],
  claim_expired: ["Cards", "A claim expired"],
  promotion_refused: ["Moves", "GitHub refused a move"],
  refusal_withdrawn: ["Moves", "A refused move was withdrawn"],
  blocked: ["Moves", "A card became blocked"],
  unblocked: ["Moves", "A card is no longer blocked"],
  armed: ["Moves", "A move waits for checks and reviews"],
  armed_changed: ["Moves", "A waiting move waits for something else"],
  disarmed: ["Moves", "A waiting move was cancelled"],
  comment: ["Comments", "A comment was written"],
  comment_edited: ["Comments", "A comment was edited"],
  comment_deleted: ["Comments", "A comment was deleted"],
  branch_created: ["Branches and pull requests", "A branch was created"],
  branch_adopted: ["Branches and pull requests", "A branch was linked"],
  branch_deleted: ["Branches and pull requests", "A branch was deleted"],
  pushed: ["Branches and pull requests", "Commits were pushed"],
  pull_request_opened: ["Branches and pull requests", "A pull request was opened"],
  pull_request_ready: ["Branches and pull requests", "A pull request is ready for review"],
  pull_request_merged: ["Branches and pull requests", "A pull request was merged"],
  rules_bypassed: ["Branches and pull requests", "A merge bypassed rules"],
  pull_request_closed: ["Branches and pull requests", "A pull request was closed"],
  pull_request_reopened: ["Branches and pull requests", "A pull request was reopened"],
  git_facts_changed: ["Branches and pull requests", "Conflicts, reviews or the merge queue may have changed"],
  checks_changed: ["Branches and pull requests", "Checks changed"],
  review_submitted: ["Branches and pull requests", "A review was submitted"],
  repository_linked: ["Branches and pull requests", "A repository was linked"],
  repository_unlinked: ["Branches and pull requests", "A repository was unlinked"],
  backmerge_opened: ["Branches and pull requests", "A back-merge was opened"],
  proposal_opened: ["Agents", "An agent proposed a change"],
  proposal_accepted: ["Agents", "A proposal was merged"],
  agent_gave_up: ["Agents", "An agent gave up"],
  release_added: ["Releases", "A card was added to a release"],
  release_picked: ["Releases", "A card was picked onto a release"],
  release_completed: ["Releases", "A release was completed"],
  release_changed: ["Releases", "A release was changed"],
  label_changed: ["Board", "A label was changed"],
  feature_changed: ["Board", "A feature was changed"],
  page_changed: ["Board", "A page was changed"],
  flow_changed: ["Board", "A flow was changed"],
  project_changed: ["Board", "A project was changed"],
  member_changed: ["Board", "A member was changed"],
  inbox_dismissed: ["Board", "An inbox item was dismissed"],
};

export const ALL_KINDS = Object.keys(KINDS) as readonly Kind[];

/** A sentence about a kind; its name for one that this page does not know, such as `ping`. */
export const kindText = (kind: string): string =>
  Object.hasOwn(KINDS, kind) ? KINDS[kind as Kind][1] : kind;
