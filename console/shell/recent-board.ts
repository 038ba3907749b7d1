import { readStorage, writeStorage } from "../api/storage.ts";

const SETTING = "trunkline:board";

/** The board that was open last in this browser. */
export const recentBoard = (): string | null => readStorage("localStorage", SETTING);

export const rememberBoard = (workspaceId: string): void =>
  writeStorage("localStorage", SETTING, workspaceId);
