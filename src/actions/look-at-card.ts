import { setTimeout as sleep } from "node:timers/promises";
import { brokenRefusal } from "../flow/connection.ts";
import { ruleAsks, targetOf, type Stage } from "../flow/flow.ts";
import { planMove, type MovePlan, type RepositoryState } from "../flow/move.ts";
import type { BranchAnswer } from "../forge/forge.ts";
import type { CardHead } from "../store/cards.ts";
import { listLinks, type Link } from "../store/links.ts";
import type { Project } from "../store/projects.ts";
import type { Deps } from "./deps.ts";

/** A card before a stage of its project's flow. */
export interface Crossing {
  readonly card: CardHead;
  readonly project: Project;
  readonly stage: Stage;
}

export interface Look {
  readonly links: readonly Link[];
  readonly repositories: readonly RepositoryState[];
  readonly plan: MovePlan;
}

/** How long is waited for a forge that is still working out whether a branch can be merged, in milliseconds. */
const PATIENCE_MS = 15_000;

/** Moving within a stage reorders, a stage without a rule asks nothing, and a card without repositories has no Git. */
export async function touchesGit(deps: Deps, { card, stage }: Crossing): Promise<boolean> {
  if (card.stageId === stage.id || !ruleAsks(stage.rule, "branch")) return false;
  return (await listLinks(deps.db, card.id)).length > 0;
}

/** Asks the forge about all of a card's repositories in one call and plans the stage's entering from the answers. */
export async function lookAtCard(deps: Deps, crossing: Crossing): Promise<Look> {
  const { card, project, stage } = crossing;
  const links = await listLinks(deps.db, card.id);
  const targetBranch = stage.rule.type === "merge" ? stage.rule.into : targetOf(project.flow, card.hotfix);
  const asked = links.filter((link) => link.repository.ref !== null);
  const answers =
    asked.length === 0
      ? []
      : await deps.forge.inspect(
          asked.flatMap(({ repository, branchName }) =>
            repository.ref ? [{ repository: repository.ref, branchName, targetBranch }] : [],
          ),
        );
  const answerOf = new Map<Link, BranchAnswer>(
    asked.flatMap((link, at) => {
      const answer = answers[at];
      return answer ? [[link, answer] as const] : [];
    }),
  );
  const repositories = links.map((link) => {
    const answer = answerOf.get(link);
    return {
      repositoryId: link.repository.id,
      fullName: link.repository.fullName,
      branchName: link.branchName,
      facts: answer ? (answer.refusal ?? answer) : brokenRefusal(link.repository.broken ?? "not_granted"),
    };
  });
  return { links, repositories, plan: planMove({ flow: project.flow, stage, card, repositories }) };
}

/** Looks until the forge has made up its mind, at growing intervals, or patience ends; then its merge answer decides. */
export async function lookUntilDecided(deps: Deps, crossing: Crossing): Promise<Look> {
  const until = Date.now() + PATIENCE_MS;
  let look = await lookAtCard(deps, crossing);
  for (let pause = 250; look.plan.isUndecided && look.plan.reasons.length === 0; pause *= 2) {
    if (Date.now() + pause > until) break;
    await sleep(pause);
    look = await lookAtCard(deps, crossing);
  }
  return look;
}
