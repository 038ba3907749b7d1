/**
 * The query keys of a board's data. Live updates find what to change by them, so every query of a screen uses one.
 * The first part is the board; below `card` are the parts of one card.
 */
export const keysOf = (workspaceId: string) => ({
  all: [workspaceId] as const,
  boards: [workspaceId, "board"] as const,
  board: (projectId: string) => [workspaceId, "board", projectId] as const,
  /** What `GET /v1/cards` lists: facts about cards that `GET /v1/board` does not have. */
  listed: [workspaceId, "listed"] as const,
  /** Blocked cards with GitHub's words. */
  refusals: (projectId: string) => [workspaceId, "listed", projectId, "blocked"] as const,
  /** Has the prefix of the projects, with which it changes. */
  flow: (projectId: string) => [workspaceId, "projects", projectId, "flow"] as const,
  /** Of mutations: moves made from this page. */
  moves: [workspaceId, "moves"] as const,
  card: (number: number) => [workspaceId, "card", number] as const,
  cardPart: (number: number, part: "timeline" | "checks" | "reviews" | "move-plan", ...more: string[]) =>
    [workspaceId, "card", number, part, ...more] as const,
  inbox: [workspaceId, "inbox"] as const,
  backlog: (projectId: string) => [workspaceId, "backlog", projectId] as const,
  /** Has the prefix of the releases, with which it changes; so have the next three. */
  releasesOf: (projectId: string) => [workspaceId, "releases", "project", projectId] as const,
  releasesOfCard: (number: number) => [workspaceId, "releases", "card", number] as const,
  release: (id: string) => [workspaceId, "releases", id] as const,
  releasePart: (id: string, part: "preview" | "operation" | "outcome", ...more: string[]) =>
    [workspaceId, "releases", id, part, ...more] as const,
  trunk: (projectId: string, ...range: string[]) => [workspaceId, "trunk", projectId, ...range] as const,
  /** Has the prefix of the repositories, with which it changes. */
  branch: (projectId: string, name: string) =>
    [workspaceId, "repositories", "branch", projectId, name] as const,
  list: (name: ListName) => [workspaceId, name] as const,
  deliveries: (webhookId: string) => [workspaceId, "webhooks", webhookId, "deliveries"] as const,
  issuedKey: [workspaceId, "issued-key"] as const,
  feedBounds: [workspaceId, "feed-bounds"] as const,
  audit: (filter: string) => [workspaceId, "audit", filter] as const,
  eventsOf: (attemptId: string) => [workspaceId, "audit", attemptId, "events"] as const,
  /** Has the prefix of the members, with which it changes. */
  people: (part: "members" | "invitations" | "keys" | "agents") => [workspaceId, "members", part] as const,
  /** The same list with the numbers of cards, which change with the cards. */
  counted: (name: "projects" | "labels" | "features") => [workspaceId, name, "counted"] as const,
});

/** Lists that a board has once. */
export type ListName =
  | "projects"
  | "labels"
  | "features"
  | "members"
  | "repositories"
  | "releases"
  | "docs"
  | "webhooks";

export type Keys = ReturnType<typeof keysOf>;
