import { presentRuleset } from "../present/ruleset.ts";
import { notFound } from "../server/api-error.ts";
import { ok, repositoryRoute, type RepositoryCall } from "../server/route.ts";

export const rulesetRoutes = [repositoryRoute("GET", "/rulesets/{ruleset_id}", "metadata:read", readOne)];

function readOne({ forge, repository, params, caller }: RepositoryCall) {
  const row = forge.state.rulesets.get(Number(params["ruleset_id"]));
  if (row?.repositoryId !== repository.id) throw notFound();
  return ok(presentRuleset(forge, repository, row, caller.kind === "installation"));
}
