import type { Console } from "../../src/http/console/console.ts";
import { consoleRoutes } from "../../src/http/console/console-routes.ts";
import type { Route } from "../../src/http/route.ts";
import { routes } from "../../src/http/v1/routes.ts";

/** A call of a route with values for all path parameters. */
export interface SampleCall {
  /** `POST /v1/cards/{number}/move` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly about: "credential" | "board";
  readonly role: string;
  /** Whether its response is streamed. */
  readonly isStream: boolean;
}

const callOf = ({ definition }: Route): SampleCall => {
  const { method, path, about, role } = definition;
  return {
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path: path.replaceAll("{number}", "4711").replaceAll(/\{\w+\}/g, "019a0000-0000-7000-8000-000000000000"),
    about,
    role,
    isStream: Object.values(definition.responses).some(({ contentType }) => contentType !== undefined),
  };
};

/** A call of each route of `/v1`, also of new ones. Card 4711 does not exist. */
export const allCalls: readonly SampleCall[] = routes.map(callOf);

/** A call of each route of a board that only the console has. */
export const consoleOnlyCalls: readonly SampleCall[] = consoleRoutes({} as Console)
  .map(callOf)
  .filter(({ about }) => about === "board");

/** A call to each route whose response is JSON, so that a new route is held to the rules of all. */
export const sampleCalls = allCalls.filter(({ isStream }) => !isStream);

export const boardCalls = sampleCalls.filter(({ about }) => about === "board");
export const writeCalls = sampleCalls.filter(({ method }) => method !== "GET");
