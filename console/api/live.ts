import type { QueryClient } from "@tanstack/react-query";
import type { Client } from "./client.ts";
import { followFeed, type FeedState } from "./feed.ts";
import { keysOf } from "./keys.ts";
import { addCard, applyMove, findCard, removeCard, updateCard, type BoardSnapshot } from "./patch-board.ts";
import { ApiProblem } from "./problem.ts";
import type { Event } from "./schema.d.ts";
import { SESSION_KEY } from "./session.ts";

/** How long events are collected before what they change is read again, in milliseconds. */
const COLLECT_MS = 80;
/** After this time screens read their data even if the feed has not opened, in milliseconds. */
const OPEN_TIMEOUT_MS = 1_000;
/** With more changed cards at once, reading the board is one call instead of many. */
const MANY_CARDS = 12;
/** Kinds of events that change nothing that the board shows of a card. */
const NOT_ON_A_CARD = new Set<string>(["comment_edited", "inbox_dismissed"]);
/** Kinds of events that change nothing in lists of cards. */
const NOT_ON_THE_BOARD = new Set<string>(["comment", "comment_edited", "comment_deleted", "inbox_dismissed"]);
/** Changes that GitHub's responses about a card do not depend on. Reading those again would cost calls to GitHub. */
const NOT_ON_GITHUB = new Set<string>([
  ...NOT_ON_THE_BOARD,
  "updated",
  "card_reordered",
  "claimed",
  "claim_released",
  "claim_expired",
  // It comes from GitHub's response.
  "git_facts_changed",
]);
/** Kinds of events that change how many cards a project, label or feature has. */
const COUNTED = new Set<string>(["updated", "status_changed", "card_created", "card_deleted"]);
const NOT_IN_THE_INBOX = new Set<string>([
  "card_reordered",
  "claimed",
  "claim_released",
  "claim_expired",
  "page_changed",
  "feature_changed",
  "label_changed",
]);

/**
 * Keeps the cached data of a board current from its feed: moves are applied to the board, other changes of a card
 * read that card again, and everything else reads the list that it belongs to.
 */
export class LiveBoard {
  readonly #client: Client;
  readonly #queries: QueryClient;
  readonly #keys;
  readonly #cards = new Set<number>();
  #collected: Event[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #position: number | null = null;
  #missedStart = false;

  constructor(client: Client, queries: QueryClient) {
    this.#client = client;
    this.#queries = queries;
    this.#keys = keysOf(client.workspaceId);
  }

  /** Follows the feed until `signal` aborts. If it does not open soon, its state becomes `offline`. */
  async follow(onState: (state: FeedState) => void, signal: AbortSignal): Promise<void> {
    const report = (state: FeedState): void => {
      if (state === "offline" && this.#position === null) this.#missedStart = true;
      onState(state);
    };
    const slow = setTimeout(() => {
      if (this.#position === null) report("offline");
    }, OPEN_TIMEOUT_MS);
    const listener = {
      onState: report,
      onOpen: (position: number) => this.#opened(position),
      onEvents: (events: readonly Event[]) => this.#receive(events),
      onRefused: () => void this.#queries.invalidateQueries({ queryKey: SESSION_KEY }),
      onGap: () => void this.#queries.invalidateQueries({ queryKey: this.#keys.all }),
    };
    await followFeed(this.#client, listener, signal);
    clearTimeout(slow);
    clearTimeout(this.#timer);
  }

  /**
   * When the stream opens for the first time, reads again all data that is older than its start.
   * Data without a position counts as older if the stream opened late.
   */
  #opened(position: number): void {
    if (this.#position !== null) return;
    this.#position = position;
    void this.#queries.invalidateQueries({
      queryKey: this.#keys.all,
      predicate: ({ state }) => (seqIn(state.data) ?? (this.#missedStart ? -1 : position)) < position,
    });
  }

  #receive(events: readonly Event[]): void {
    for (const event of events) this.#applyToBoards(event);
    this.#collected.push(...events);
    this.#schedule();
  }

  #applyToBoards(event: Event): void {
    const { card, kind } = event;
    if (!card || NOT_ON_A_CARD.has(kind)) return;
    for (const [key, board] of this.#queries.getQueriesData<BoardSnapshot>({ queryKey: this.#keys.boards })) {
      if (!board || event.seq <= board.feedSeq) continue;
      const parentNumber = findCard(board, card.number)?.task.parentNumber;
      // How many sub-cards of the parent are done may have changed.
      if (typeof parentNumber === "number" && COUNTED.has(kind)) this.#cards.add(parentNumber);
      const applied = kind === "card_deleted" ? removeCard(board, card.number) : applyMove(board, event);
      if (applied === null) this.#cards.add(card.number);
      const shown = applied ?? addCard(board, event, String(key[2]));
      this.#queries.setQueryData(key, { ...shown, feedSeq: event.seq });
    }
  }

  #refreshLater(number: number): void {
    this.#cards.add(number);
    this.#schedule();
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#refresh();
    }, COLLECT_MS);
  }

  #refresh(): void {
    const events = this.#collected;
    const cards = [...this.#cards];
    this.#collected = [];
    this.#cards.clear();
    const reread = (queryKey: readonly unknown[]) => void this.#queries.invalidateQueries({ queryKey });
    for (const number of new Set(events.flatMap(({ card }) => (card ? [card.number] : [])))) {
      this.#rereadCard(
        number,
        events.filter(({ card }) => card?.number === number),
      );
    }
    const kinds = new Set<string>(events.map(({ kind }) => kind));
    for (const key of staleLists(kinds, this.#keys)) reread(key);
    const isAboutSeveral = events.some(({ kind, card }) => kind === "git_facts_changed" && card === null);
    // It may be a sub-card that the board does not show.
    const isAnyDeleted = kinds.has("card_deleted");
    if (cards.length > MANY_CARDS || isAboutSeveral || isAnyDeleted) reread(this.#keys.boards);
    else for (const number of cards) void this.#readCard(number);
  }

  /** Reads what the screen of a card shows again; checks, reviews and plans only if they may have changed. */
  #rereadCard(number: number, changes: readonly Event[]): void {
    const unchanged = new Set<unknown>(
      changes.every(({ kind }) => NOT_ON_GITHUB.has(kind)) ? ["checks", "reviews", "move-plan"] : [],
    );
    void this.#queries.invalidateQueries({
      queryKey: this.#keys.card(number),
      predicate: ({ queryKey }) => !unchanged.has(queryKey[3]),
    });
  }

  /** Reads a card and shows it where the service has it. */
  async #readCard(number: number): Promise<void> {
    try {
      const { data, feedSeq } = await this.#client.read("GET /v1/cards/{number}", { path: { number } });
      this.#queries.setQueryData(this.#keys.card(number), { ...data, feedSeq: feedSeq ?? 0 });
      this.#patchBoards((board, projectId) => {
        if (projectId !== data.projectId) return removeCard(board, number);
        const isOutdated = (feedSeq ?? board.feedSeq) < board.feedSeq;
        const before = findCard(board, number);
        const { parentNumber } = data;
        if (parentNumber !== null && before?.task.parentNumber !== parentNumber)
          this.#refreshLater(parentNumber);
        const place = before?.column.statusId;
        if (!isOutdated || place === data.statusId) return updateCard(board, data);
        // Newer events may have moved the card.
        const isShown =
          place !== undefined || board.columns.some(({ statusId }) => statusId === data.statusId);
        if (isShown) this.#refreshLater(number);
        return board;
      });
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404) {
        this.#patchBoards((board) => removeCard(board, number));
      } else await this.#queries.invalidateQueries({ queryKey: this.#keys.boards });
    }
  }

  #patchBoards(patch: (board: BoardSnapshot, projectId: string) => BoardSnapshot): void {
    for (const [key, board] of this.#queries.getQueriesData<BoardSnapshot>({ queryKey: this.#keys.boards })) {
      if (board) this.#queries.setQueryData(key, patch(board, String(key[2])));
    }
  }
}

const seqIn = (data: unknown): number | null =>
  typeof data === "object" && data !== null && "feedSeq" in data ? Number(data.feedSeq) : null;

/** The lists that events of these kinds change. */
function staleLists(kinds: ReadonlySet<string>, keys: ReturnType<typeof keysOf>): (readonly unknown[])[] {
  const stale: (readonly unknown[])[] = [];
  const all = [...kinds];
  if (all.some((kind) => !NOT_IN_THE_INBOX.has(kind))) stale.push(keys.inbox);
  const [workspaceId] = keys.all;
  if (all.some((kind) => !NOT_ON_THE_BOARD.has(kind))) {
    stale.push([workspaceId, "backlog"], keys.listed, keys.list("releases"), [workspaceId, "trunk"]);
  }
  if (all.some((kind) => COUNTED.has(kind)))
    stale.push(keys.counted("projects"), keys.counted("labels"), keys.counted("features"));
  const lists = {
    label: "labels",
    feature: "features",
    page: "docs",
    release: "releases",
    member: "members",
  } as const;
  for (const [subject, list] of Object.entries(lists)) {
    if (kinds.has(`${subject}_changed`)) stale.push(keys.list(list));
  }
  if (kinds.has("flow_changed") || kinds.has("project_changed")) {
    stale.push(keys.boards, keys.list("projects"), keys.list("repositories"));
  }
  if (kinds.has("label_changed")) stale.push(keys.boards);
  // The role of this user may have changed.
  if (kinds.has("member_changed")) stale.push(SESSION_KEY);
  return stale;
}
