import type { Route } from "../server/route.ts";
import { appRoutes } from "./app.ts";
import { branchRoutes } from "./branches.ts";
import { checkSuiteRoutes } from "./check-suites.ts";
import { checkRoutes } from "./checks.ts";
import { commitRoutes, oneCommitRoute } from "./commits.ts";
import { contentRoutes } from "./contents.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { gitDataRoutes } from "./git-data.ts";
import { issueRoutes } from "./issues.ts";
import { mergeRoutes } from "./merges.ts";
import { pullRoutes } from "./pulls.ts";
import { refRoutes } from "./refs.ts";
import { releaseRoutes } from "./releases.ts";
import { repositoryRoutes } from "./repositories.ts";
import { reviewRoutes } from "./reviews.ts";
import { rulesetRoutes } from "./rulesets.ts";
import { statusRoutes } from "./statuses.ts";
import { userRoutes } from "./users.ts";

/**
 * All REST routes. The first that matches a path wins. A new route also needs
 * - a line in `scripts/github-contract/rest.mjs`, and a run of `npm run github-contract`, which
 *   downloads GitHub's description of it,
 * - a call in `test/forge/tours`, whose response is compared with that description.
 */
export const restRoutes: readonly Route[] = [
  ...appRoutes,
  ...deliveryRoutes,
  ...userRoutes,
  ...refRoutes,
  ...gitDataRoutes,
  ...pullRoutes,
  ...mergeRoutes,
  ...reviewRoutes,
  ...issueRoutes,
  ...statusRoutes,
  ...checkRoutes,
  ...checkSuiteRoutes,
  ...branchRoutes,
  ...rulesetRoutes,
  ...contentRoutes,
  ...releaseRoutes,
  ...commitRoutes,
  oneCommitRoute,
  ...repositoryRoutes,
];
