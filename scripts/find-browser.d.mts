/** The path of CHROMIUM_PATH or of Debian's chromium; null, with a message on stderr, if there is none. */
export function findBrowser(): string | null;
