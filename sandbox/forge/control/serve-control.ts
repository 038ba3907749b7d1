import { timingSafeEqual } from "node:crypto";
import express, { type ErrorRequestHandler, type Request, type Response, type Router } from "express";
import { NotFound } from "../world.ts";
import type { ForgeControl } from "./control.ts";
import {
  InvalidBody,
  deliverySchema,
  draftsSchema,
  immutableReleasesSchema,
  faultSchema,
  mergeQueueSchema,
  protectionBypassSchema,
  releaseSchema,
  resolutionSchema,
  reviewThreadSchema,
  revokeSchema,
  rulesetSchema,
  rulesSchema,
  scriptSchema,
  seedSchema,
  settingsSchema,
  staleReadsSchema,
  webhookSchema,
  workflowSchema,
  parseBody,
} from "./request-schemas.ts";

/**
 * The control over HTTP, for a forge in another process; requires a token. `docs/sandbox.md` has
 * examples.
 *
 *     POST   /_control/faults            FaultRule -> { id }; GET lists; DELETE, also with /{id}
 *     POST   /_control/script            { match, responses }
 *     POST   /_control/webhook-faults    DeliveryRule -> { id }; GET lists; DELETE, also with /{id}
 *     GET    /_control/held              the held webhooks
 *     POST   /_control/release           { order } -> { released }
 *     POST   /_control/webhooks          CustomWebhook -> { guid, status, body }
 *     PUT    /_control/stale-reads       StaleReadSettings or null
 *     POST   /_control/snapshot
 *     GET    /_control/installations     [{ id, account }]
 *     POST   /_control/revoke-tokens     { installationId } -> { revoked }
 *     PUT    /_control/seed              { seed }
 *     GET    /_control/calls             CallCounts; DELETE resets them
 *     GET    /_control/limits            ImposedLimit[]; DELETE ends them
 *     PATCH  /_control/settings          ForgeSettings -> all of them
 *     PUT    /_control/drafts            { repository, allowed }
 *     PUT    /_control/immutable-releases { repository, enabled }
 *     PUT    /_control/rules             { repository, branch } and BranchRules
 *     PUT    /_control/rulesets          { repository, branch, name, ruleset }; null deletes it
 *     PUT    /_control/protection-bypass { repository, branch, appBypass }
 *     POST   /_control/workflow-runs     { repository, sha, workflow, event, jobs, conclusion } -> { suiteId }
 *     POST   /_control/review-threads    { repository, number, path, by } -> { id }
 *     PUT    /_control/review-threads/{id} { resolved, by }
 *     POST   /_control/merge-queue       { repository, number, remove } -> { merged }
 *     DELETE /_control                   resets faults, stale reads, limits, counts and held webhooks
 */
export function serveControl(control: ForgeControl, token: string): Router {
  const router = express.Router();
  router.use(requireToken(token));
  router.use(express.json({ limit: "30mb", strict: false }));
  serveFaults(router, control);
  serveWebhooks(router, control);
  serveFeatures(router, control);
  const { calls, limits } = control;
  router.post("/script", ({ body }, response) => {
    const { match, responses } = parseBody(scriptSchema, body);
    sendNoContent(response, control.script(match, responses));
  });
  router.put("/stale-reads", ({ body }, response) =>
    sendNoContent(response, control.setStaleReads(parseBody(staleReadsSchema, body))),
  );
  router.post("/snapshot", async (_request, response) =>
    sendNoContent(response, await control.takeSnapshot()),
  );
  router.get("/installations", (_request, response) => void response.json(control.installations()));
  router.post("/revoke-tokens", ({ body }, response) => {
    response.json({ revoked: control.revokeTokens(parseBody(revokeSchema, body).installationId) });
  });
  router.put("/seed", ({ body }, response) =>
    sendNoContent(response, control.seed(parseBody(seedSchema, body).seed)),
  );
  router.get("/calls", (_request, response) => void response.json(calls.read()));
  router.get("/limits", (_request, response) => void response.json(limits.list()));
  router.delete("/limits", (_request, response) => sendNoContent(response, limits.clear()));
  router.delete("/calls", (_request, response) => sendNoContent(response, calls.reset()));
  router.delete("/", (_request, response) => sendNoContent(response, control.reset()));
  router.use(handleInvalidBody);
  return router;
}

function serveFaults(router: Router, { faults }: ForgeControl): void {
  router.post(
    "/faults",
    ({ body }, response) => void response.json({ id: faults.add(parseBody(faultSchema, body)) }),
  );
  router.get("/faults", (_request, response) => void response.json(faults.list()));
  router.delete("/faults", (_request, response) => sendNoContent(response, faults.clear()));
  router.delete("/faults/:id", ({ params }, response) =>
    sendRemoved(response, faults.remove(Number(params.id))),
  );
}

function serveWebhooks(router: Router, { webhooks, ...control }: ForgeControl): void {
  router.post(
    "/webhook-faults",
    ({ body }, response) => void response.json({ id: webhooks.add(parseBody(deliverySchema, body)) }),
  );
  router.get("/webhook-faults", (_request, response) => void response.json(webhooks.list()));
  router.delete("/webhook-faults", (_request, response) => sendNoContent(response, webhooks.clear()));
  router.delete("/webhook-faults/:id", ({ params }, response) =>
    sendRemoved(response, webhooks.remove(Number(params.id))),
  );
  router.get("/held", (_request, response) => void response.json(webhooks.held()));
  router.post("/release", async ({ body }, response) => {
    response.json({ released: await webhooks.release(parseBody(releaseSchema, body ?? {}).order) });
  });
  router.post("/webhooks", async ({ body }, response) => {
    response.json(await control.sendWebhook(parseBody(webhookSchema, body)));
  });
}

function serveFeatures(router: Router, { settings, webUi }: ForgeControl): void {
  router.patch("/settings", ({ body }, response) => {
    response.json(Object.assign(settings, parseBody(settingsSchema, body)));
  });
  router.put("/drafts", ({ body }, response) => {
    const { repository, allowed } = parseBody(draftsSchema, body);
    sendNoContent(response, webUi.setDrafts(repository, allowed));
  });
  router.put("/immutable-releases", ({ body }, response) => {
    const { repository, enabled } = parseBody(immutableReleasesSchema, body);
    sendNoContent(response, webUi.setImmutableReleases(repository, enabled));
  });
  router.put("/rules", ({ body }, response) => {
    const { repository, branch, ...rules } = parseBody(rulesSchema, body);
    sendNoContent(response, webUi.setRules(repository, branch, rules));
  });
  router.put("/rulesets", ({ body }, response) => {
    const { repository, branch, name, ruleset } = parseBody(rulesetSchema, body);
    sendNoContent(response, webUi.setRuleset(repository, branch, name, ruleset));
  });
  router.put("/protection-bypass", ({ body }, response) => {
    const { repository, branch, appBypass } = parseBody(protectionBypassSchema, body);
    sendNoContent(response, webUi.setProtectionBypass(repository, branch, appBypass));
  });
  router.post("/workflow-runs", async ({ body }, response) => {
    const { repository, ...run } = parseBody(workflowSchema, body);
    response.json({ suiteId: (await webUi.runWorkflow(repository, run)).id });
  });
  router.post("/review-threads", ({ body }, response) => {
    const { repository, number, path, by } = parseBody(reviewThreadSchema, body);
    response.json({ id: webUi.startReviewThread(repository, number, path, by) });
  });
  router.put("/review-threads/:id", async ({ params, body }, response) => {
    const { resolved, by } = parseBody(resolutionSchema, body);
    sendNoContent(response, await webUi.setThreadResolved(Number(params.id), resolved, by));
  });
  router.post("/merge-queue", async ({ body }, response) => {
    const { repository, number, remove } = parseBody(mergeQueueSchema, body);
    const pull = await (remove === undefined
      ? webUi.mergeQueued(repository, number)
      : webUi.dequeue(repository, number, remove));
    response.json({ merged: pull.mergedAt !== null });
  });
}

const handleInvalidBody: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof InvalidBody || error instanceof NotFound || error instanceof SyntaxError)
    response.status(400).json({ message: error.message });
  else next(error);
};

function requireToken(token: string) {
  const expected = Buffer.from(`Bearer ${token}`);
  return (request: Request, response: Response, next: () => void): void => {
    const given = Buffer.from(request.headers.authorization ?? "");
    if (given.length === expected.length && timingSafeEqual(given, expected)) next();
    else response.status(401).json({ message: "The control token is missing or wrong." });
  };
}

function sendNoContent(response: Response, _nothing: void): void {
  response.status(204).end();
}

function sendRemoved(response: Response, isFound: boolean): void {
  response.status(isFound ? 204 : 404).end();
}
