import { ForgeUnavailable } from "../../forge/values.ts";
import type { Deps } from "../deps.ts";

/** Logs what GitHub's GraphQL API lacks, for example on an old Enterprise Server. */
export async function logGraphqlGaps({ forge, log }: Deps): Promise<void> {
  try {
    const usable = (await forge.installations()).find(({ suspended }) => !suspended);
    if (!usable) return;
    const lacking = await forge.graphqlGaps(usable.installationId);
    if (lacking === null) log.error("GitHub has no GraphQL API at this address: check GHE_HOST");
    else if (lacking.length > 0) log.error({ lacking }, "GitHub's GraphQL API lacks what Trunkline uses");
  } catch (error) {
    if (!(error instanceof ForgeUnavailable)) throw error;
    log.warn({ err: error }, "GitHub's GraphQL API could not be checked");
  }
}
