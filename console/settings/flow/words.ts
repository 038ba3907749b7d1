import { RULE_WORDS } from "../../text/rule.ts";
import type { DraftStage } from "./draft.ts";

/** What entering a stage does, as choices. */
export const RULES = (["none", "branch", "draft_pull_request", "pull_request", "merge"] as const).map(
  (type) => [type, capitalized(RULE_WORDS[type])] as const,
);

export const ROLES = [
  ["member", "Members and maintainers"],
  ["maintainer", "Maintainers only"],
] as const satisfies readonly (readonly [Exclude<DraftStage["minRole"], "viewer">, string])[];

/** Viewers never move cards, whatever a stage requires. */
export const roleToEnter = ({ minRole }: Pick<DraftStage, "minRole">) =>
  minRole === "viewer" ? "member" : minRole;

/** Whether not all members may move cards into a stage. */
export const isRestricted = ({ minRole, gates }: Pick<DraftStage, "minRole" | "gates">): boolean =>
  minRole === "maintainer" || gates.humanOnly || gates.secondPerson;

/** Who may move cards into a stage, as a sentence. */
export function whoMayEnter({
  name,
  minRole,
  gates,
}: Pick<DraftStage, "name" | "minRole" | "gates">): string {
  const who = minRole === "maintainer" ? "maintainers" : "members and maintainers";
  const parts = [
    gates.humanOnly ? `Only ${who} who are signed in may move cards into ${name}; API keys may not.` : null,
    gates.humanOnly ? null : `${capitalized(who)} may move cards into ${name}, also with API keys.`,
    gates.secondPerson ? "Whoever wrote or pushed the card's commits may not." : null,
  ];
  return parts.filter((part) => part !== null).join(" ");
}

function capitalized(text: string): string {
  return (text[0]?.toUpperCase() ?? "") + text.slice(1);
}
