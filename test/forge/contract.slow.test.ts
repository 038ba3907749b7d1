import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { restRoutes } from "../../sandbox/forge/rest/routes.ts";
import { recordForge, type Recording } from "../support/forge/record-forge.ts";
import { startTestForge, type TestForge } from "../support/forge/sandbox-forge.ts";
import { accounts } from "./tours/accounts.ts";
import { checksAndReleases } from "./tours/checks-and-releases.ts";
import { git } from "./tours/git.ts";
import { merges } from "./tours/merges.ts";
import { pullRequests } from "./tours/pull-requests.ts";
import { repositories } from "./tours/repositories.ts";
import { makeGuide, type Guide } from "./tours/tour.ts";

let world: TestForge;
let guide: Guide;
let recording: Recording;

beforeAll(async () => {
  world = await startTestForge();
  guide = makeGuide(world);
  recording = recordForge(world.forge);
});
afterAll(() => world.stop());

/** The differences between everything sent so far and GitHub's descriptions. */
async function mismatches(): Promise<readonly string[]> {
  await world.forge.waitUntilIdle();
  return recording.mismatches;
}

describe.each(Object.entries({ accounts, repositories, git, pullRequests, merges, checksAndReleases }))(
  "what GitHub describes: %s",
  (_part, tours) => {
    test.each(Object.entries(tours))("%s", async (_name, tour) => {
      await tour(guide);
      expect(await mismatches()).toEqual([]);
    });
  },
);

describe("GitHub's descriptions", () => {
  test("include the end of an installation", async () => {
    const jwt = world.appJwt();
    const id = (await guide.get("/orgs/acme/installation", jwt)).at("id");
    await guide.call(204, "DELETE", `/app/installations/${id}`, undefined, jwt);
    expect(await mismatches()).toEqual([]);
  });

  test("include every route, and each was called", () => {
    const missed = restRoutes
      // GitHub describes the contents of the root folder with an empty path.
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/\/contents$/, "/contents/{path}")}`)
      .filter((operation) => !recording.operations.has(operation));
    expect(missed).toEqual([]);
  });

  test("include every webhook that was sent", () => {
    expect([...recording.webhooks].toSorted()).toEqual(WEBHOOKS);
  });
});

test("a recording reports missing fields", async () => {
  const other = await startTestForge();
  const broken = recordForge(other.forge);
  other.forge.control.faults.add({ fault: { kind: "garble", as: "without", fields: ["node_id"] } });
  await other.api("GET", "/user");
  await other.stop();
  expect(broken.mismatches).toContainEqual(expect.stringContaining("required property 'node_id'"));
});

const WEBHOOKS = [
  "check_run completed",
  "check_run created",
  "check_run rerequested",
  "check_suite completed",
  "check_suite rerequested",
  "create",
  "delete",
  "installation created",
  "installation deleted",
  "installation new_permissions_accepted",
  "installation suspend",
  "installation unsuspend",
  "installation_repositories added",
  "installation_repositories removed",
  "issue_comment created",
  "issue_comment deleted",
  "issue_comment edited",
  "pull_request auto_merge_disabled",
  "pull_request auto_merge_enabled",
  "pull_request closed",
  "pull_request converted_to_draft",
  "pull_request dequeued",
  "pull_request edited",
  "pull_request enqueued",
  "pull_request opened",
  "pull_request ready_for_review",
  "pull_request reopened",
  "pull_request review_request_removed",
  "pull_request review_requested",
  "pull_request synchronize",
  "pull_request_review dismissed",
  "pull_request_review edited",
  "pull_request_review submitted",
  "push",
  "release created",
  "release deleted",
  "release edited",
  "release prereleased",
  "release published",
  "release released",
  "repository archived",
  "repository created",
  "repository deleted",
  "repository edited",
  "repository privatized",
  "repository publicized",
  "repository renamed",
  "repository unarchived",
  "status",
];
