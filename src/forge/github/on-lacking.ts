import type { Feature } from "../forge.ts";

/** Told that a repository, by the forge's id, turned out to lack something. */
export type OnLacking = (forgeId: number, what: Feature) => Promise<void>;
