/** Data of GitHub, read when the card is opened. Until the response, `data` and `error` are empty. */
export interface LiveRead<T> {
  readonly data: readonly T[] | undefined;
  readonly error: Error | null;
}
