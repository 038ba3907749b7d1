import { expect } from "@jest/globals";
import type { Api } from "../api.ts";
import type { TestBoard } from "../world.ts";

/** A valid id that no resource has. */
export const UNKNOWN_ID = "019a0000-0000-7000-8000-000000000000";

/** Creates a resource. */
export async function create<Resource>(api: Api, path: string, fields: unknown): Promise<Resource> {
  const created = await api.post<Resource>(path, fields);
  if (created.status !== 201)
    throw new Error(`POST ${path} returned ${created.status} instead of 201: ${created.text}`);
  return created.body;
}

/**
 * Expects that a call on `board` with the id of another board's resource returns the same 404 as one with
 * an unknown id. The credential reaches both boards.
 */
export async function expectUnknownHere(
  [board, otherBoard]: readonly [TestBoard, TestBoard],
  [otherId, pathOf]: readonly [id: string, pathOf: (id: string) => string],
  calls: readonly (readonly [method: string, body?: unknown])[],
): Promise<void> {
  const api = await board.as({ boards: [board, otherBoard] });
  const options = { headers: { "x-service-workspace": board.workspaceId } };
  for (const [method, body] of calls) {
    const ofOtherBoard = await api.call(method, pathOf(otherId), body, options);
    const ofNone = await api.call(method, pathOf(UNKNOWN_ID), body, options);
    expect(ofOtherBoard.status).toBe(404);
    expect(ofOtherBoard.text).toBe(ofNone.text);
  }
}
