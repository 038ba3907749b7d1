import type { Refusal } from "./refusal.ts";

/** Why nothing may be done in a repository. */
export const BROKEN_KINDS = ["uninstalled", "suspended", "refused", "not_granted", "archived"] as const;
export type Broken = (typeof BROKEN_KINDS)[number];

/** What each means, and what to do about it. Of `refused` the forge's own words are told, and GitHub's are those of `archived`. */
export const BROKEN_WORDS: Readonly<Record<Broken, string>> = {
  uninstalled: "The App is not installed on this account any more. Install it again.",
  suspended:
    "The App is suspended on this account. An owner of the account can lift that in its settings on the forge.",
  refused: "The forge refuses the App access to this account.",
  not_granted:
    "The App is not granted this repository any more, or it is gone. Grant it again, or take it out of the project.",
  archived: "Repository was archived so is read-only.",
};

/** The refusal of whatever is asked in such a repository. */
export const brokenRefusal = (broken: Broken): Refusal => ({
  reason: "not_permitted",
  message: BROKEN_WORDS[broken],
  details: { connection: broken },
});

/** Whether a refusal is about the connection to the forge, and gone once a repository can be asked again. */
export const isAboutConnection = ({ details }: Pick<Refusal, "details">): boolean =>
  details !== undefined && "connection" in details;
