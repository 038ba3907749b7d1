import { timingSafeEqual } from "node:crypto";
import express, { type Request, type Response, type Router } from "express";
import type { ForgeControl } from "./control.ts";

/**
 * The control over HTTP, for a forge in another process. Guarded by a token, because it can make the forge do anything.
 *
 *     POST   /_control/faults            a FaultRule; answers { id }        GET lists, DELETE ends all or /{id}
 *     POST   /_control/script            { match, answers }
 *     POST   /_control/webhook-faults    a DeliveryRule; answers { id }     GET lists, DELETE ends all or /{id}
 *     GET    /_control/held              the webhooks kept back
 *     POST   /_control/release           { order }; answers { released }
 *     POST   /_control/webhooks          a CustomWebhook; answers { guid, status, body }
 *     PUT    /_control/stale-reads       a StaleReads or null
 *     POST   /_control/keep-stale
 *     POST   /_control/revoke-tokens     { installationId }; answers { revoked }
 *     PUT    /_control/seed              { seed }
 *     GET    /_control/calls             the CallCounts; DELETE starts counting anew
 *     DELETE /_control                   everything back to good behaviour
 */
export function serveControl(control: ForgeControl, token: string): Router {
  const router = express.Router();
  router.use(guard(token));
  router.use(express.json({ limit: "30mb", strict: false }));
  const { faults, webhooks, calls } = control;
  router.post("/faults", (request, response) => void response.json({ id: faults.add(request.body) }));
  router.get("/faults", (_request, response) => void response.json(faults.list()));
  router.delete("/faults", (_request, response) => done(response, faults.clear()));
  router.delete("/faults/:id", (request, response) =>
    found(response, faults.remove(Number(request.params.id))),
  );
  router.post("/script", (request, response) =>
    done(response, control.script(request.body.match, request.body.answers)),
  );
  router.post(
    "/webhook-faults",
    (request, response) => void response.json({ id: webhooks.add(request.body) }),
  );
  router.get("/webhook-faults", (_request, response) => void response.json(webhooks.list()));
  router.delete("/webhook-faults", (_request, response) => done(response, webhooks.clear()));
  router.delete("/webhook-faults/:id", (request, response) =>
    found(response, webhooks.remove(Number(request.params.id))),
  );
  router.get("/held", (_request, response) => void response.json(webhooks.held()));
  router.post("/release", async (request, response) => {
    response.json({ released: await webhooks.release(request.body?.order) });
  });
  router.post("/webhooks", async (request, response) => {
    response.json(await control.sendWebhook(request.body));
  });
  router.put("/stale-reads", (request, response) => done(response, control.staleReads(request.body)));
  router.post("/keep-stale", async (_request, response) => done(response, await control.keepStale()));
  router.post("/revoke-tokens", (request, response) => {
    response.json({ revoked: control.revokeTokens(request.body.installationId) });
  });
  router.put("/seed", (request, response) => done(response, control.seed(request.body.seed)));
  router.get("/calls", (_request, response) => void response.json(calls.read()));
  router.delete("/calls", (_request, response) => done(response, calls.reset()));
  router.delete("/", (_request, response) => done(response, control.reset()));
  return router;
}

function guard(token: string) {
  const expected = Buffer.from(`Bearer ${token}`);
  return (request: Request, response: Response, next: () => void): void => {
    const given = Buffer.from(request.headers.authorization ?? "");
    if (given.length === expected.length && timingSafeEqual(given, expected)) next();
    else response.status(401).json({ message: "The control token is missing or wrong." });
  };
}

function done(response: Response, _nothing: void): void {
  response.status(204).end();
}

function found(response: Response, isFound: boolean): void {
  response.status(isFound ? 204 : 404).end();
}
