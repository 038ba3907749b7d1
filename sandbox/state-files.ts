import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { RunningForge } from "./forge/start-forge.ts";

const forgeUsers = z.array(z.object({ login: z.string(), token: z.string() }));
/** Access to the control API of the sandbox forge. Files of earlier versions have none. */
const control = z.object({ url: z.string(), token: z.string() }).optional();

const sandboxFile = z.object({
  baseUrl: z.string(),
  apiKey: z.string(),
  workspaceId: z.string(),
  projectId: z.string(),
  forge: z.object({ apiUrl: z.string(), cloneUrl: z.string(), users: forgeUsers, control }),
});

/** What a person or a script needs to use the sandbox. */
export type SandboxFile = z.infer<typeof sandboxFile>;

const forgeFile = z.object({
  apiUrl: z.string(),
  cloneUrl: z.string(),
  appId: z.number(),
  privateKey: z.string(),
  webhookSecret: z.string(),
  clientId: z.string().optional(),
  clientSecret: z.string().optional(),
  users: forgeUsers,
  control,
});

/** What a service needs to use the sandbox forge. */
export type ForgeFile = z.infer<typeof forgeFile>;

const SANDBOX = "sandbox.json";
const FORGE = "forge.json";

/** Reads `sandbox.json`. Null if it is missing or invalid. */
export const readSandboxFile = (dataDir: string): Promise<SandboxFile | null> =>
  readState(join(dataDir, SANDBOX), sandboxFile);

export const writeSandboxFile = (dataDir: string, file: SandboxFile): Promise<string> =>
  writeState(join(dataDir, SANDBOX), file);

/** Reads `forge.json`. Null if it is missing or invalid. */
export const readForgeFile = (dataDir: string): Promise<ForgeFile | null> =>
  readState(join(dataDir, FORGE), forgeFile);

/** Writes the URLs and secrets of a forge. Returns the path of the file. */
export const writeForgeFile = (dataDir: string, forge: RunningForge): Promise<string> =>
  writeState(join(dataDir, FORGE), {
    apiUrl: forge.apiUrl,
    cloneUrl: forge.cloneUrl,
    appId: forge.app.id,
    privateKey: forge.app.privateKey,
    webhookSecret: forge.app.webhookSecret,
    clientId: forge.app.clientId,
    clientSecret: forge.app.clientSecret,
    users: forge.users.map(({ login, token }) => ({ login, token })),
    control: forge.controlEndpoint ?? undefined,
  } satisfies ForgeFile);

/** A token for the control API, valid for one run of the forge. */
export const newControlToken = (): string => randomBytes(24).toString("base64url");

async function readState<T>(path: string, shape: z.ZodType<T>): Promise<T | null> {
  try {
    return shape.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return null;
  }
}

/** Replaces the file atomically, readable by its owner only. */
async function writeState(path: string, content: object): Promise<string> {
  await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return path;
}
