/** An answer of GitHub that is read when the card is opened; neither part is there while it is read. */
export interface LiveRead<T> {
  readonly data: readonly T[] | undefined;
  readonly error: Error | null;
}
