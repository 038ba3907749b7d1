const BASE = "http://console.invalid";
const MAX_LENGTH = 2_000;

/**
 * The path to return to after a sign-in: `/` unless it is a path of this service. Browsers read `\`
 * as `/`, skip line breaks, and treat a path that begins with `//` as another host, also one that
 * does so only after `/.` is removed.
 */
export function localPath(given: string): string {
  if (given.length > MAX_LENGTH || !given.startsWith("/") || /[\\\p{Cc}]/u.test(given)) return "/";
  if (!URL.canParse(given, BASE)) return "/";
  const { origin, pathname, search, hash } = new URL(given, BASE);
  return origin === BASE && !pathname.startsWith("//") ? `${pathname}${search}${hash}` : "/";
}
