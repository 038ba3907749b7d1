/** One inspected thing, its state, and what to do about it. */
export interface Finding {
  readonly about: string;
  /** A warning works, perhaps not as meant; a problem does not work. */
  readonly state: "ok" | "warning" | "problem";
  readonly says: string;
  readonly advice?: string | undefined;
}

const finding =
  (state: Finding["state"]) =>
  (about: string, says: string, advice?: string): Finding => ({ about, state, says, advice });
export const fine = finding("ok");
export const warning = finding("warning");
export const problem = finding("problem");
