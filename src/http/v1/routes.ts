import type { Route } from "../route.ts";
import { accountRoutes, memberRoutes } from "./account.ts";
import { auditRoutes } from "./audit.ts";
import { boardRoutes } from "./board.ts";
import { cardListRoutes } from "./card-list.ts";
import { cardRoutes } from "./cards.ts";
import { checkRoutes } from "./checks.ts";
import { claimRoutes } from "./claims.ts";
import { commentRoutes } from "./comments.ts";
import { docRoutes } from "./docs.ts";
import { eventRoutes } from "./events.ts";
import { featureRoutes } from "./features.ts";
import { inboxRoutes } from "./inbox.ts";
import { labelRoutes } from "./labels.ts";
import { movePlanRoutes } from "./move-plan.ts";
import { operationRoutes } from "./operations.ts";
import { projectRoutes } from "./projects.ts";
import { releaseOperationRoutes } from "./releases/release-operations.ts";
import { releasePreviewRoutes } from "./releases/release-previews.ts";
import { releaseRoutes } from "./releases/releases.ts";
import { repositoryRoutes } from "./repositories.ts";
import { searchRoutes } from "./search.ts";
import { trunkRoutes } from "./trunk.ts";
import { webhookRoutes } from "./webhooks.ts";

/** All routes of `/v1`. */
export const routes: readonly Route[] = [
  ...accountRoutes,
  ...boardRoutes,
  ...cardListRoutes,
  ...cardRoutes,
  ...movePlanRoutes,
  ...commentRoutes,
  ...claimRoutes,
  ...checkRoutes,
  ...searchRoutes,
  ...labelRoutes,
  ...featureRoutes,
  ...projectRoutes,
  ...repositoryRoutes,
  ...memberRoutes,
  ...docRoutes,
  ...releaseRoutes,
  ...releaseOperationRoutes,
  ...releasePreviewRoutes,
  ...operationRoutes,
  ...inboxRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...auditRoutes,
  ...trunkRoutes,
];
