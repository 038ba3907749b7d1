import { routes } from "../../src/http/v1/routes.ts";

/** One call to a route, with something in the place of every parameter. */
export interface SampleCall {
  /** `POST /v1/cards/{number}/move` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly about: "account" | "board";
  readonly role: string;
}

/** A call to everything `/v1` serves, so that a new route is held to the rules of all. No card 4711 exists on a test's board. */
export const sampleCalls: readonly SampleCall[] = routes.map(({ definition }) => {
  const { method, path, about, role } = definition;
  return {
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path: path.replaceAll("{number}", "4711").replaceAll(/\{\w+\}/g, "019a0000-0000-7000-8000-000000000000"),
    about,
    role,
  };
});

export const boardCalls = sampleCalls.filter(({ about }) => about === "board");
export const writeCalls = sampleCalls.filter(({ method }) => method !== "GET");
