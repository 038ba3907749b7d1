import type { Answer } from "./api-error.ts";
import type { RestCall } from "./route.ts";

export interface Page {
  readonly number: number;
  readonly size: number;
  readonly skip: number;
}

/** GitHub's paging: 30 unless asked, 100 at most. */
export function pageOf(query: URLSearchParams, most = 100): Page {
  const size = Math.min(most, positive(query.get("per_page"), 30));
  const number = positive(query.get("page"), 1);
  return { number, size, skip: (number - 1) * size };
}

function positive(text: string | null, otherwise: number): number {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? value : otherwise;
}

/** One page of a list, with the `Link` header that leads through it. `wrap` puts the page into an object. */
export async function paged<Item>(
  call: RestCall,
  items: readonly Item[],
  present: (item: Item) => unknown,
  wrap: (page: readonly unknown[]) => unknown = (page) => page,
): Promise<Answer> {
  const page = pageOf(call.query);
  const part = items.slice(page.skip, page.skip + page.size);
  const body = wrap(await Promise.all(part.map((item) => present(item))));
  return { status: 200, body, headers: linkHeaders(call, page, Math.ceil(items.length / page.size)) };
}

/** The `Link` header of a list with so many pages. */
export function linkHeaders(call: RestCall, page: Page, pages: number): Record<string, string> {
  const address = (number: number) => {
    const url = new URL(call.url);
    url.searchParams.set("page", String(number));
    return url.href;
  };
  const links: string[] = [];
  if (page.number > 1) links.push(`<${address(page.number - 1)}>; rel="prev"`);
  if (page.number < pages)
    links.push(`<${address(page.number + 1)}>; rel="next"`, `<${address(pages)}>; rel="last"`);
  if (page.number > 1) links.push(`<${address(1)}>; rel="first"`);
  return links.length === 0 ? {} : { link: links.join(", ") };
}
