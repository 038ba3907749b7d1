import { describe, expect, it } from "@jest/globals";
import type { Attempt } from "../../console/api/schema.d.ts";
import { endOf, SENTENCES, sentenceOf } from "../../console/settings/audit/sentences.ts";
import { CALLBACK_PATH } from "../../src/http/console/console.ts";
import { consoleOnlyCalls, writeCalls } from "../support/routes.ts";

const NOBODY: Attempt["names"] = { card: null, subject: null, to: null, refused: 0 };
const card = { number: 12, title: "Say hello", isDeleted: false };

/** The sentence of an attempt as text, and how it ended. */
function told(
  action: string,
  { names = {}, ...outcome }: { names?: Partial<Attempt["names"]> } & Partial<Attempt["outcome"]> = {},
) {
  const attempt: Attempt = {
    id: "1",
    at: "2026-01-31T12:00:00Z",
    actor: null,
    credential: null,
    action,
    targets: {},
    outcome: { status: 200, problem: null, replay: false, ...outcome },
    address: null,
    userAgent: null,
    requestId: null,
    calls: [],
    events: [],
    hash: null,
    names: { ...NOBODY, ...names },
  };
  const parts = sentenceOf(attempt).map((part) => {
    if (typeof part === "string") return part;
    return "name" in part ? part.name : `card ${part.card.number}`;
  });
  return [parts.join(""), endOf(attempt)];
}

describe("the sentences of the audit log", () => {
  // If this fails, add a sentence to console/settings/audit/sentences.ts.
  it("exist for each route that writes, and for no other", () => {
    const writes = [...writeCalls, ...consoleOnlyCalls.filter(({ method }) => method !== "GET")];
    const names = [...writes.map(({ name }) => name), `GET ${CALLBACK_PATH}`];
    expect(Object.keys(SENTENCES).toSorted()).toEqual(names.toSorted());
  });

  it("name what the route concerns, and are complete without a name", () => {
    for (const action of Object.keys(SENTENCES)) {
      const [named = ""] = told(action, { names: { card, subject: "NAME", to: "NEXT" } });
      const [unnamed = ""] = told(action);
      for (const sentence of [named, unnamed]) expect(sentence).toMatch(/^[a-z]+( [^{}[\]]+)+$/);
      expect(unnamed).not.toMatch(/NAME|NEXT| (to|into|of|on)$/);
    }
  });

  it.each([
    ["POST /v1/cards/{number}/move", { card, to: "Done" }, "moved card 12 to Done"],
    ["POST /v1/cards/{number}/move", { card }, "moved card 12"],
    ["DELETE /console/v1/credentials/{id}", { subject: "deploy-bot" }, "revoked the API key deploy-bot"],
    ["DELETE /console/v1/credentials/{id}", {}, "revoked an API key"],
    ["POST /v1/releases/{id}/promote", { subject: "1.0", to: "Done" }, "promoted the release 1.0 to Done"],
    [
      "POST /v1/releases/{id}/promote",
      { subject: "1.0", to: "Done", refused: 2 },
      "promoted the release 1.0 to Done; 2 cards were refused",
    ],
    ["POST /v1/releases/{id}/promote", { refused: 1 }, "promoted a release; 1 card was refused"],
    ["PUT /v1/projects/{projectId}/flow", { subject: "Web" }, "changed the flow of the project Web"],
    [
      "PUT /v1/projects/{projectId}/repositories",
      { subject: "Web" },
      "changed the repositories of the project Web",
    ],
    ["POST /console/v1/invitations", { subject: "grace" }, "invited the account grace"],
    ["DELETE /console/v1/invitations/{id}", {}, "revoked the invitation of an account"],
    ["GET /console/callback", {}, "signed in and joined the board"],
    ["trunkline member add", {}, "ran the command trunkline member add"],
    ["POST /v9/{new}", {}, "called POST /v9/{new}"],
  ] as const)("say what %s did with %j", (action, names, sentence) => {
    expect(told(action, { names })).toEqual([sentence, null]);
  });

  it.each([
    [{ status: 403, problem: "forbidden" }, "was not allowed to create a card", "Refused: forbidden"],
    [{ status: 409, problem: "wip_limit" }, "tried to create a card", "Refused: wip limit"],
    [{ status: 409, problem: "refused" }, "tried to create a card", "Refused"],
    [{ status: 503, problem: "unavailable" }, "tried to create a card", "Failed: unavailable"],
    [{ status: null, problem: "interrupted" }, "tried to create a card", "Failed: interrupted"],
    [{ status: 202 }, "asked to create a card", null],
    [{ status: 201, replay: true }, "created a card", "Repeated"],
  ] as const)("say how an attempt ended: %j", (outcome, sentence, end) => {
    expect(told("POST /v1/cards", outcome)).toEqual([sentence, end]);
  });
});
