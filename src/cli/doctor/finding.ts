/** One thing that was looked at, what is so, and what to do about it where something is to be done. */
export interface Finding {
  readonly about: string;
  /** A warning works, perhaps not as meant; a problem does not work. */
  readonly state: "ok" | "warning" | "problem";
  readonly says: string;
  readonly advice?: string;
}

export const fine = (about: string, says: string): Finding => ({ about, state: "ok", says });
export const warning = (about: string, says: string, advice: string): Finding => ({
  about,
  state: "warning",
  says,
  advice,
});
export const problem = (about: string, says: string, advice: string): Finding => ({
  about,
  state: "problem",
  says,
  advice,
});
