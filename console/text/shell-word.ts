/** A word of a shell command. Git allows characters in the names of branches that a shell would interpret. */
export const shellWord = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
