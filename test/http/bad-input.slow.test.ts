import { beforeAll, describe, expect, it } from "@jest/globals";
import { routes } from "../../src/http/v1/routes.ts";
import { inputFieldsOf, valueAt, withValueAt } from "../support/input-fields.ts";
import { putFlow, readFlow } from "../support/flows.ts";
import { sampleCalls } from "../support/routes.ts";
import { UNKNOWN_ID } from "../support/stories/resources.ts";
import { callSample, sampleOf, type Sample } from "../support/samples.ts";
import { useWorld } from "../support/use-world.ts";
import type { TestBoard } from "../support/world.ts";

const world = useWorld();
let board: TestBoard;
beforeAll(async () => {
  board = await world.board();
});

/** Words of zod's own messages, which are meant for programmers. */
const RAW = /invalid|received|expected|too (big|small)|undefined|must match|unrecognized/i;
const HOSTILE: readonly unknown[] = [
  null,
  true,
  -1.5,
  2 ** 53,
  1e300,
  "a\0b",
  "\ud800",
  "'; drop table cards; --",
  "x".repeat(250_000),
  [[]],
  JSON.parse('{"__proto__":{"isAdmin":true}}'),
];
const canBeIn = (field: string, value: unknown): boolean =>
  field.startsWith("body") ||
  (typeof value !== "object" && value !== "\ud800" && JSON.stringify(value).length < 100);

function withHostile(sample: Sample, field: string, value: unknown): Sample {
  if (field === "body") return { ...sample, body: value as Record<string, unknown> };
  const filled = { ...sample, query: sample.query ?? {} };
  const parent = field.slice(0, field.lastIndexOf("."));
  return valueAt(filled, parent) === undefined ? sample : withValueAt(filled, field, value);
}

describe("any value in a field", () => {
  // Contract: Conventions: No input value causes a 5xx; a refusal has a readable message
  it.each(sampleCalls.map(({ name }) => [name]))(
    "is accepted or refused with a readable message by %s",
    async (name) => {
      const sample = await sampleOf(name, board);
      for (const field of inputFieldsOf(name).filter((each) => !each.startsWith("header."))) {
        const responses = await Promise.all(
          HOSTILE.filter((value) => canBeIn(field, value)).map(async (value) => {
            const { status, body } = await callSample(name, withHostile(sample, field, value), board.api);
            const { message, issues = [] } = (body ?? {}) as {
              message?: string;
              issues?: { message: string }[];
            };
            const messages = [message ?? "", ...issues.map((issue) => issue.message)];
            return {
              field,
              value: JSON.stringify(value).slice(0, 40),
              status,
              raw: messages.filter((each) => RAW.test(each)),
            };
          }),
        );
        expect(responses.filter(({ status, raw }) => status >= 500 || raw.length > 0)).toEqual([]);
      }
    },
  );

  it.each<[unknown, string, string]>([
    [{}, "body.title", "is required (text)"],
    [{ title: 7 }, "body.title", "must be text, not a number"],
    [{ title: null }, "body.title", "must be text, not null"],
    [{ title: "x", hotfix: "yes" }, "body.hotfix", "must be true or false, not text"],
    [{ title: "x", labelIds: "bug" }, "body.labelIds", "must be a list, not text"],
    [{ title: "x", priority: "asap" }, "body.priority", "must be one of none, low, medium, high, urgent"],
    [{ title: "x", parentNumber: 1.5 }, "body.parentNumber", "must be an integer, not a number"],
    [{ title: "x", parentNumber: 2 ** 53 }, "body.parentNumber", "must be at most 9,007,199,254,740,991"],
    [{ title: "x", dueDate: "tomorrow" }, "body.dueDate", "must be a date (YYYY-MM-DD)"],
    [
      { title: "x", labelIds: Array.from({ length: 101 }, () => UNKNOWN_ID) },
      "body.labelIds",
      "must have at most 100 entries",
    ],
    [[], "body", "must be an object, not a list"],
    ["text", "body", "must be an object, not text"],
  ])("is refused with what the call expects (%#)", async (body, path, message) => {
    const refused = await board.api.post("/v1/cards", typeof body === "string" ? JSON.stringify(body) : body);
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ path, message }] } });
  });

  it.each(['{"title":"x","__proto__":{"title":"y"}}', '{"title":"x","constructor":{"prototype":{}}}'])(
    "a name with a meaning in JavaScript is an unknown field: %s",
    async (body) => {
      const refused = await board.api.post("/v1/cards", body);
      expect(refused).toMatchObject({ status: 400, body: { issues: [{ message: "unknown field" }] } });
    },
  );

  it.each(sampleCalls.map(({ name, method, path }) => [name, method, path] as const))(
    "an unknown query parameter is 400 and names the known ones: %s",
    async (name, method, path) => {
      const route = routes.find(
        ({ definition }) => name === `${definition.method.toUpperCase()} ${definition.path}`,
      );
      const known = Object.keys(route?.definition.query?.shape ?? {});
      const message =
        known.length > 0
          ? `is unknown; this call has the query parameters ${known.join(", ")}`
          : "is unknown; this call has no query parameters";
      const { status, body } = await board.api.call(method, `${path}?page=2&constructor=x`);
      expect([status, body]).toEqual([
        400,
        {
          message: `query.page, query.constructor: ${message}`,
          error: "Bad Request",
          statusCode: 400,
          issues: [
            { path: "query.page", message },
            { path: "query.constructor", message },
          ],
        },
      ]);
    },
  );

  it.each(["release/\ud800", "\udc00", "release/a\0b"])(
    "a stage cannot merge into a branch named %j, which PostgreSQL cannot store",
    async (into) => {
      const flow = await readFlow(board);
      const stages = flow.stages.map((stage) =>
        stage.kind === "done" ? { ...stage, rule: { type: "merge", into } } : stage,
      );
      const { status, body } = await putFlow(board, { ...flow, stages });
      expect([status, body.message]).toEqual([400, expect.stringContaining("is not a valid branch name")]);
    },
  );

  it("a cursor with a time in the year 0, which PostgreSQL does not have, is not valid", async () => {
    const key = ["0000-01-01T00:00:00.000Z", UNKNOWN_ID];
    const cursor = Buffer.from(JSON.stringify(["/v1/inbox", key])).toString("base64url");
    const message = "is not a cursor of this list; take it from the Link header of a response, or omit it";
    expect(await board.api.get(`/v1/inbox?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { issues: [{ path: "query.cursor", message }] },
    });
  });

  it("a card number above the largest integer is unknown", async () => {
    for (const number of ["2147483648", "9007199254740991", "9007199254740993", "99999999999999999999"]) {
      const { status, body } = await board.api.get(`/v1/cards/${number}`);
      expect(status).toBe(404);
      expect(body["message"]).toMatch(
        Number.isSafeInteger(Number(number)) ? `There is no card ${number} ` : "that large",
      );
    }
  });
});
