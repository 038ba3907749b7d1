import type { Flow } from "../../src/flow/flow.ts";
import { successes, type MoveResponse, type Success } from "./api.ts";
import type { Observed } from "./invariants.ts";
import type { TestBoard } from "./world.ts";

/** The pull requests and the stage in the response to a move are in the timeline. */
export function acknowledgedFaults(board: TestBoard, flow: Flow, { card, timeline }: Observed): string[] {
  const moves = timeline.filter(({ kind }) => kind === "status_changed");
  const entered = [flow.stages[0]?.id, ...moves.map(({ data }) => data["to"])];
  const names = card.repositories.map(({ fullName }) => fullName);
  // A response has a repository's name at that time; a name that the card no longer has is ignored.
  const merged = timeline
    .filter(({ kind }) => kind === "pull_request_merged")
    .map(({ repositoryFullName, data }) => ({ fullName: repositoryFullName, number: data["prNumber"] }));
  return successes
    .filter(({ apiKey, path, status }) => {
      const isMove = path === `/v1/cards/${card.number}/move` && status === 200;
      return isMove && apiKey === board.api.apiKey;
    })
    .flatMap(({ text }) => {
      const { task, promoted } = JSON.parse(text) as MoveResponse;
      const missing = promoted.filter(
        ({ fullName, prNumber }) =>
          !merged.some(
            (pull) => pull.number === prNumber && (pull.fullName === fullName || !names.includes(fullName)),
          ),
      );
      return [
        ...(entered.includes(task.statusId)
          ? []
          : [`has no move to ${task.statusId}, which a response reported`]),
        ...missing.map(
          ({ fullName, prNumber }) => `has no merge of ${fullName}#${prNumber}, which a response reported`,
        ),
      ];
    });
}

// Invariant: I3
/** Successful responses with one name have the same bytes, and at most one of them is no replay. */
export function unequalResponses<
  T extends Pick<Success, "text" | "isReplay"> & { readonly status: number | null },
>(results: readonly T[], nameOf: (result: T) => string): string[] {
  const named = new Map<string, T[]>();
  for (const result of results) {
    const name = nameOf(result);
    const given = named.get(name);
    if (given) given.push(result);
    else named.set(name, [result]);
  }
  return [...named].flatMap(([name, given]) => {
    const texts = new Set(given.map(({ status, text }) => `${status} ${text}`));
    const fresh = given.filter(({ isReplay }) => !isReplay);
    return [
      ...(texts.size > 1 ? [`${name} has different responses: ${[...texts].join(" / ")}`] : []),
      ...(fresh.length > 1 ? [`${name} was executed ${fresh.length} times`] : []),
    ];
  });
}
