import type { RunningForge } from "../../sandbox/forge/start-forge.ts";
import type { History } from "../history.ts";

/** Writes down what the forge is asked and what it answers: a call that was cut off or left hanging has no answer. */
export function recordCalls({ control }: RunningForge, history: History): void {
  control.observe({
    onCall: ({ id, method, path, query, body }) =>
      history.forge({ id, asked: `${method} ${path}`, query: query.toString(), body: body.toString("utf8") }),
    onAnswer: ({ id }, { status, body }) => history.forge({ id, status, body }),
  });
}
