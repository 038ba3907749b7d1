const SETTING = "trunkline:board";

/** The board that was open last in this browser. */
export const recentBoard = (): string | null => localStorage.getItem(SETTING);

export const rememberBoard = (workspaceId: string): void => localStorage.setItem(SETTING, workspaceId);
