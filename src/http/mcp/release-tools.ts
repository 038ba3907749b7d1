import { z } from "zod";
import {
  dataOf,
  listArguments,
  runList,
  tool,
  type Arguments,
  type Output,
  type RunRoute,
  type Tool,
} from "./tool.ts";

const toolset = "releases";

async function getReleases(run: RunRoute, input: Arguments): Promise<Output> {
  if (input["id"] !== undefined) {
    const { body } = await run("GET /v1/releases/{id}", input);
    return { text: "The release with its cards and repositories.", data: body as Output["data"] };
  }
  return { text: "The releases, newest first.", data: dataOf(await runList(run, "GET /v1/releases", input)) };
}

/** Only with `?toolsets=releases`. */
export const releaseTools: readonly Tool[] = [
  tool({
    name: "get_releases",
    title: "Get releases",
    description: "The releases of a project, or with `id` one release with its cards and repositories.",
    route: "GET /v1/releases",
    reads: ["GET /v1/releases/{id}"],
    toolset,
    extra: { ...listArguments, id: z.guid().optional() },
    run: getReleases,
  }),
  tool({
    name: "create_release",
    title: "Create a release",
    description: "Creates an open release without cards.",
    route: "POST /v1/releases",
    toolset,
    describe: () => "The release is created.",
  }),
  tool({
    name: "set_release_cards",
    title: "Set the cards of a release",
    description: "Replaces the cards of a release that is not frozen.",
    route: "PUT /v1/releases/{id}/cards",
    toolset,
    isDestructive: true,
    describe: () => "The cards of the release are set.",
  }),
  tool({
    name: "freeze_release",
    title: "Freeze a release",
    description: "Creates the release branch in every repository. Cards can then be added by pick_card only.",
    route: "POST /v1/releases/{id}/freeze",
    toolset,
    isDestructive: true,
    describe: () => "The release is frozen.",
  }),
  tool({
    name: "pick_card",
    title: "Pick a card into a frozen release",
    description: "Cherry-picks the merged commits of a card onto the release branches.",
    route: "POST /v1/releases/{id}/pick",
    toolset,
    isDestructive: true,
    describe: () => "The card is part of the release.",
  }),
  tool({
    name: "promote_release",
    title: "Promote a release",
    description: "Moves the cards of a release into a stage. Poll pending ones with get_operation.",
    route: "POST /v1/releases/{id}/promote",
    toolset,
    isDestructive: true,
    describe: () =>
      "`promoted`, `refused`, `skipped` and `pending` list the cards. Poll `operationId` if it is set.",
  }),
  tool({
    name: "cancel_promotion",
    title: "Cancel a promotion",
    description: "Stops a promotion after the card that is being moved.",
    route: "POST /v1/operations/{operationId}/cancel",
    toolset,
    describe: () => "The promotion is cancelled. Poll get_operation until nothing is pending.",
  }),
  tool({
    name: "complete_release",
    title: "Complete a release",
    description: "Creates a tag and a GitHub release in each repository.",
    route: "POST /v1/releases/{id}/complete",
    toolset,
    isDestructive: true,
    describe: () => "The release is completed. `tags` lists its tags.",
  }),
];
