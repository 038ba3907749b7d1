import type { LoggedRequest } from "../../../sandbox/forge/server/request-log.ts";
import { settled } from "../database/database-content.ts";
import { callsByBot } from "./installations.ts";
import type { TestWorld } from "../world.ts";

/** The name of a call: the GraphQL operation or the route. */
const nameOf = ({ operation, route, path }: LoggedRequest): string => operation ?? route ?? path;

/** Polling of a merge and reading the history of a push are counted separately. */
const isApart = (name: string): boolean => name.endsWith("/merge-async/{uuid}") || name === "LandedHistory";

/** The calls to the forge that `act` causes, including its webhooks and jobs. */
export async function callsOf(world: TestWorld, act: () => Promise<unknown>): Promise<string[]> {
  await settled(world);
  world.forge.requests.reset();
  await act();
  await settled(world);
  return callsByBot(world)
    .map(nameOf)
    .filter((name) => !isApart(name));
}
