/** The path of CHROMIUM_PATH or of Debian's chromium; null, with a message on stderr, if neither exists. */
export function findBrowser(): string | null;
