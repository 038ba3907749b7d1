/** The result of one check. */
export interface Finding {
  readonly about: string;
  /** With a warning the service works, perhaps not as intended; with a problem it does not. */
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
