/** A bug that is added to the compiled service. */
export interface SeededBug {
  readonly name: string;
  /** The invariant that must detect it. */
  readonly invariant: string;
  readonly edits: readonly Edit[];
}

interface Edit {
  /** Below `dist/src`. */
  readonly file: string;
  /** Must occur in the file. */
  readonly find: string;
  readonly replace: string;
}
