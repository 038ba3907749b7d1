import { useQueries, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useEffect } from "react";
import { useRead } from "../api/reads.ts";
import type { PromotionOutcome, Release, ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";

/** How often the progress of an action is read, in milliseconds. */
const PROGRESS_MS = 700;

/** The releases of a project, newest first. Live. */
export function useReleases(projectId: string): UseQueryResult<readonly Release[]> {
  const { keys } = useWorkspace();
  return useRead(keys.releasesOf(projectId), "GET /v1/releases", { query: { projectId } }, { all: true });
}

/** A release with its cards. Live. */
export function useRelease(id: string, enabled = true): UseQueryResult<ReleaseDetails> {
  const { keys } = useWorkspace();
  return useRead(keys.release(id), "GET /v1/releases/{id}", { path: { id } }, { enabled });
}

/** What freezing and completing would do. `tags`: the wanted tags, as `<repositoryId>:<tagName>,…`. */
export function useReleasePreview(id: string, enabled: boolean, tags = "") {
  const { keys } = useWorkspace();
  const key = keys.releasePart(id, "preview", tags);
  const query = tags === "" ? {} : { tags };
  return useRead(key, "GET /v1/releases/{id}/preview", { path: { id }, query }, { enabled });
}

/** Reads the preview again when a dialog opens: no event reports the tags of a repository. */
export function useFreshPreview(id: string, isOpen: boolean): void {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const prefix = keys.releasePart(id, "preview");
  useEffect(() => {
    if (isOpen) void queries.invalidateQueries({ queryKey: prefix });
    // The key of a release is always the same.
  }, [isOpen, id, queries]);
}

/** The action that runs on a release. Read repeatedly while there is one, or while `isExpected`. */
export function useOperation(id: string, isExpected: boolean) {
  const { keys } = useWorkspace();
  return useRead(
    keys.releasePart(id, "operation"),
    "GET /v1/releases/{id}/operation",
    { path: { id } },
    { everyMs: (data) => (isExpected || data?.operation ? PROGRESS_MS : false) },
  );
}

/** The result of each card of a promotion, read until no card is pending. */
export function useOutcome(id: string, operationId: string | null): UseQueryResult<PromotionOutcome> {
  const { keys } = useWorkspace();
  return useRead(
    keys.releasePart(id, "outcome", operationId ?? ""),
    "GET /v1/operations/{operationId}",
    { path: { operationId: operationId ?? "" } },
    {
      enabled: operationId !== null,
      everyMs: (data) => (data && data.pending.length > 0 ? PROGRESS_MS : false),
    },
  );
}

/** How many completed releases are read, the newest first. */
const MAX_COMPLETED = 10;

interface OtherReleases {
  /** The open release that a card is in, by card number. */
  readonly open: ReadonlyMap<number, string>;
  /** The completed release that contains a card. */
  readonly completed: ReadonlyMap<number, string>;
}

/** The names of a project's other releases that cards are in. */
export function useOtherReleases(projectId: string, releaseId: string): OtherReleases {
  const { client, keys, feed } = useWorkspace();
  const { data: releases = [] } = useReleases(projectId);
  const others = releases.filter(({ id }) => id !== releaseId);
  const read = [
    ...others.filter(({ status }) => status === "open"),
    ...others.filter(({ status }) => status === "completed").slice(0, MAX_COMPLETED),
  ];
  const details = useQueries({
    queries: read.map(({ id }) => ({
      queryKey: keys.release(id),
      queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<ReleaseDetails> =>
        (await client.read("GET /v1/releases/{id}", { path: { id } }, signal)).data,
      enabled: feed !== "connecting",
    })),
  });
  const namesIn = (wanted: Release["status"]): ReadonlyMap<number, string> =>
    new Map(
      details.flatMap(({ data }) =>
        data?.status === wanted
          ? data.cards.filter(({ isMissing }) => !isMissing).map(({ number }) => [number, data.name] as const)
          : [],
      ),
    );
  return { open: namesIn("open"), completed: namesIn("completed") };
}
