/** The result of one check. */
export interface Finding {
  readonly about: string;
  /** With a warning the service works, perhaps not as intended; with a problem it does not. */
  readonly state: "ok" | "warning" | "problem";
  readonly message: string;
  readonly advice?: string | undefined;
}

const finding =
  (state: Finding["state"]) =>
  (about: string, message: string, advice?: string): Finding => ({ about, state, message, advice });
export const fine = finding("ok");
export const warning = finding("warning");
export const problem = finding("problem");
