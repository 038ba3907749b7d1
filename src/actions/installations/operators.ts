import { invalid, notFound } from "../../errors.ts";
import { isKnownAgent } from "../../flow/comment-text.ts";
import { findUsableInstallation, setOperator } from "../../store/tenancy/operators.ts";
import type { Deps } from "../deps.ts";
import { forgeActor } from "../members/forge-accounts.ts";

/** Makes the person with this login on GitHub an operator of the service. */
export async function addOperator(
  deps: Pick<Deps, "db" | "newId" | "forge">,
  login: string,
): Promise<{ readonly id: string; readonly login: string }> {
  const installation = await findUsableInstallation(deps.db);
  const account = await deps.forge.account(login, installation?.installationId ?? null);
  if (!account) throw notFound(`GitHub has no user ${login}.`);
  if (account.isBot || isKnownAgent(account))
    throw invalid(`${account.login} is a bot. An operator must be a person.`);
  const { userId } = await forgeActor(deps, deps.db, account);
  await setOperator(deps.db, userId, true);
  return { id: userId, login: account.login };
}
