import { setTimeout as sleep } from "node:timers/promises";
import { notFound } from "../errors.ts";
import type { Db } from "../store/db/connect.ts";
import { FEED_KINDS, readEvents, readFeedBounds, requireRetained } from "../store/events/feed.ts";
import { findWorkspace } from "../store/tenancy/workspaces.ts";
import {
  EXAMPLE_ID,
  readOptions,
  TEXT,
  UsageError,
  workspaceOf,
  type Command,
  type CommandContext,
} from "./command.ts";
import { withDatabase } from "./open.ts";

/** Events per read. */
const BATCH = 200;
/** The pause between two reads without events, in milliseconds. */
const PAUSE_MS = 250;

interface Order {
  readonly workspaceId: string;
  /** Undefined for the default. */
  readonly after: number | undefined;
  readonly kinds: readonly string[] | null;
  readonly isFollowing: boolean;
}

export const events: Command = {
  name: "events",
  about: "Prints the events of a board, one line of JSON each",
  usage: ["events --workspace <id> [--after <seq>] [--kinds <kinds>] [--follow]"],
  options: {
    "--workspace <id>": "Board, from `trunkline workspace list`",
    "--after <seq>": "Number to start after; by default all events, with --follow only new ones",
    "--kinds <kinds>": "Only these kinds, separated by commas",
    "--follow": "Wait for further events until the command is stopped",
  },
  examples: [`events --workspace ${EXAMPLE_ID} --kinds status_changed,blocked --follow`],
  run: async (args, context) => {
    const values = readOptions(args, {
      workspace: TEXT,
      after: TEXT,
      kinds: TEXT,
      follow: { type: "boolean" },
    });
    const order: Order = {
      workspaceId: workspaceOf(values),
      after: values.after === undefined ? undefined : seqOf(values.after),
      kinds: values.kinds === undefined ? null : kindsOf(values.kinds),
      isFollowing: values.follow ?? false,
    };
    await withDatabase(context, (db) => printEvents(db, context, order));
  },
};

function seqOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError("--after must be the `seq` of an event, or 0.");
}

function kindsOf(list: string): string[] {
  const kinds = list.split(",");
  const unknown = kinds.find((kind) => !FEED_KINDS.some((known) => known === kind));
  if (unknown === undefined) return kinds;
  throw new UsageError(`There is no kind ${JSON.stringify(unknown)}. Use some of: ${FEED_KINDS.join(", ")}.`);
}

async function printEvents(
  db: Db,
  { print, untilSignal }: CommandContext,
  { workspaceId, after, kinds, isFollowing }: Order,
): Promise<void> {
  if (!(await findWorkspace(db, workspaceId))) throw notFound(`There is no workspace ${workspaceId}.`);
  const stopping = new AbortController();
  if (isFollowing) void untilSignal().then(() => stopping.abort());
  const { head, oldest } = await readFeedBounds(db, workspaceId);
  let position = after ?? (isFollowing ? head : oldest - 1);
  while (!stopping.signal.aborted) {
    const page = await readEvents(db, workspaceId, {
      after: position,
      limit: BATCH,
      kinds,
      cardNumber: null,
    });
    requireRetained(position, page);
    for (const event of page.events) print(JSON.stringify(event));
    const isAtEnd = page.next === position;
    position = page.next;
    if (!isAtEnd) continue;
    if (!isFollowing) return;
    await sleep(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
}
