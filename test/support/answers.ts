import type { Flow } from "../../src/flow/flow.ts";
import { successes, type MoveAnswer, type Success } from "./api.ts";
import type { Observed } from "./invariants.ts";
import type { TestBoard } from "./world.ts";

/** What answered a move of this card is there, or was until a later move. */
export function acknowledgedFaults(board: TestBoard, flow: Flow, { card, timeline }: Observed): string[] {
  const moves = timeline.filter(({ kind }) => kind === "status_changed");
  const entered = [flow.stages[0]?.id, ...moves.map(({ data }) => data["to"])];
  const names = card.repositories.map(({ fullName }) => fullName);
  // An answer has the name a repository had, the timeline the one it has: a name that is none of the card's any more says nothing.
  const merged = timeline
    .filter(({ kind }) => kind === "pull_request_merged")
    .map(({ repositoryFullName, data }) => ({ fullName: repositoryFullName, number: data["prNumber"] }));
  return successes
    .filter(({ apiKey, path, status }) => {
      const isMove = path === `/v1/cards/${card.number}/move` && status === 200;
      return isMove && apiKey === board.api.apiKey;
    })
    .flatMap(({ text }) => {
      const { task, promoted } = JSON.parse(text) as MoveAnswer;
      const untrue = promoted.filter(
        ({ fullName, prNumber }) =>
          !merged.some(
            (pull) => pull.number === prNumber && (pull.fullName === fullName || !names.includes(fullName)),
          ),
      );
      return [
        ...(entered.includes(task.statusId) ? [] : [`was answered to be in ${task.statusId}, and never was`]),
        ...untrue.map(({ fullName, prNumber }) => `was answered that ${fullName}#${prNumber} is merged`),
      ];
    });
}

// Invariant: I3
/** Of successes under one name: they are the same to the byte, and one of them at the most was carried out. */
export function unequalAnswers<
  T extends Pick<Success, "text" | "isReplay"> & { readonly status: number | null },
>(answers: readonly T[], nameOf: (answer: T) => string): string[] {
  const named = new Map<string, T[]>();
  for (const answer of answers) {
    const name = nameOf(answer);
    const given = named.get(name);
    if (given) given.push(answer);
    else named.set(name, [answer]);
  }
  return [...named].flatMap(([name, given]) => {
    const texts = new Set(given.map(({ status, text }) => `${status} ${text}`));
    const fresh = given.filter(({ isReplay }) => !isReplay);
    return [
      ...(texts.size > 1 ? [`${name} was answered differently: ${[...texts].join(" / ")}`] : []),
      ...(fresh.length > 1 ? [`${name} was carried out ${fresh.length} times`] : []),
    ];
  });
}
