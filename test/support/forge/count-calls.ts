import type { LoggedRequest } from "../../../sandbox/forge/server/request-log.ts";
import { settled } from "../database/database-content.ts";
import { callsByBot } from "./installations.ts";
import type { TestWorld } from "../world.ts";

/** What was asked: the GraphQL operation, else the route. */
const nameOf = ({ operation, route, path }: LoggedRequest): string => operation ?? route ?? path;

/** Following a merge that the forge has not finished, and reading on what a push brought onto a trunk: counted apart. */
const isApart = (name: string): boolean => name.endsWith("/merge-async/{uuid}") || name === "LandedHistory";

/** The calls to the forge that something takes, with all that it sets off here: webhooks heard and jobs done. */
export async function callsOf(world: TestWorld, act: () => Promise<unknown>): Promise<string[]> {
  await settled(world);
  world.forge.requests.reset();
  await act();
  await settled(world);
  return callsByBot(world)
    .map(nameOf)
    .filter((name) => !isApart(name));
}
