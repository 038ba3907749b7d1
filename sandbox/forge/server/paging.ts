import type { ForgeResponse } from "./api-error.ts";
import type { RestCall } from "./route.ts";

interface Page {
  readonly number: number;
  readonly size: number;
  readonly skip: number;
}

/** GitHub's paging: 30 items per page by default, 100 at most. */
export function pageOf(query: URLSearchParams): Page {
  const size = Math.min(100, positiveInteger(query.get("per_page"), 30));
  const number = positiveInteger(query.get("page"), 1);
  return { number, size, skip: (number - 1) * size };
}

function positiveInteger(text: string | null, fallback: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? value : fallback;
}

/** Returns one page of a list with its `Link` header. `wrap` puts the page into an object. */
export async function paged<Item>(
  call: RestCall,
  items: readonly Item[],
  present: (item: Item) => unknown,
  wrap: (page: readonly unknown[]) => unknown = (page) => page,
): Promise<ForgeResponse> {
  const page = pageOf(call.query);
  const part = items.slice(page.skip, page.skip + page.size);
  const body = wrap(await Promise.all(part.map((item) => present(item))));
  return { status: 200, body, headers: linkHeaders(call, page, Math.ceil(items.length / page.size)) };
}

export function linkHeaders(call: RestCall, page: Page, pages: number): Record<string, string> {
  const urlOf = (number: number) => {
    const url = new URL(call.url);
    url.searchParams.set("page", String(number));
    return url.href;
  };
  const links: string[] = [];
  if (page.number > 1) links.push(`<${urlOf(page.number - 1)}>; rel="prev"`);
  if (page.number < pages)
    links.push(`<${urlOf(page.number + 1)}>; rel="next"`, `<${urlOf(pages)}>; rel="last"`);
  if (page.number > 1) links.push(`<${urlOf(1)}>; rel="first"`);
  return links.length === 0 ? {} : { link: links.join(", ") };
}
