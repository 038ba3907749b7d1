import { useInfiniteQuery } from "@tanstack/react-query";
import { useWorkspace } from "./workspace.tsx";

interface Page<Item> {
  readonly items: readonly Item[];
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null;
}

/** A list that is read page by page, when the user asks for more. */
export function usePages<Item>(
  queryKey: readonly unknown[],
  readPage: (cursor: string | null, signal: AbortSignal) => Promise<Page<Item>>,
  options: { readonly everyMs?: number } = {},
) {
  const { feed } = useWorkspace();
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }: Page<Item>) => next,
    enabled: feed !== "connecting",
    ...(options.everyMs !== undefined && { refetchInterval: options.everyMs }),
  });
  return { ...query, items: query.data?.pages.flatMap(({ items }) => items) };
}
