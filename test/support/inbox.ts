import { newId } from "../../src/new-id.ts";
import { eventually, type Api } from "./api.ts";

export interface InboxItem {
  readonly id: string;
  readonly kind: string;
  readonly detail: string;
  readonly projectId: string;
  readonly card: { readonly number: number; readonly title: string } | null;
  readonly repository: string | null;
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The `data` of an `error_reported` item. */
export const reportedError = (title: string) => ({
  monitorId: newId(),
  monitorName: "Sentry",
  fingerprint: title,
  title,
  url: "https://errors.example/1",
});

/** The inbox of the board's only project, or of the given one. */
export async function readInbox(api: Api, projectId?: string): Promise<InboxItem[]> {
  const path = projectId === undefined ? "/v1/inbox" : `/v1/inbox?projectId=${projectId}`;
  const response = await api.get<InboxItem[]>(path);
  if (response.status !== 200) throw new Error(`reading the inbox failed: ${response.text}`);
  return response.body;
}

/** The items of a kind. */
export const itemsOf = async (api: Api, kind: string): Promise<InboxItem[]> =>
  (await readInbox(api)).filter((item) => item.kind === kind);

/** The only item of a kind, when there is one. */
export async function itemWhen(api: Api, kind: string): Promise<InboxItem> {
  const found = await eventually(
    () => itemsOf(api, kind),
    ({ length }) => length > 0,
  );
  const [item] = found;
  if (!item || found.length > 1)
    throw new Error(`there is not exactly one ${kind}: ${JSON.stringify(found)}`);
  return item;
}

/** Waits until there is no item of a kind. */
export const clearedWhen = (api: Api, kind: string): Promise<InboxItem[]> =>
  eventually(
    () => itemsOf(api, kind),
    ({ length }) => length === 0,
  );
