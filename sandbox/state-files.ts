import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { RunningForge } from "./forge/start-forge.ts";

const forgeUsers = z.array(z.object({ login: z.string(), token: z.string() }));
/** How the forge is made to misbehave; files of earlier versions have none. */
const control = z.object({ url: z.string(), token: z.string() }).optional();

const sandboxFile = z.object({
  baseUrl: z.string(),
  apiKey: z.string(),
  workspaceId: z.string(),
  projectId: z.string(),
  forge: z.object({ apiUrl: z.string(), cloneUrl: z.string(), users: forgeUsers, control }),
});

/** All that a person or a script needs to use the sandbox. */
export type SandboxFile = z.infer<typeof sandboxFile>;

const forgeFile = z.object({
  apiUrl: z.string(),
  cloneUrl: z.string(),
  appId: z.number(),
  privateKey: z.string(),
  webhookSecret: z.string(),
  users: forgeUsers,
  control,
});

/** All that a service needs to use the embedded forge. */
export type ForgeFile = z.infer<typeof forgeFile>;

const SANDBOX = "sandbox.json";
const FORGE = "forge.json";

/** What `sandbox.json` of a data directory says, or null where there is none or somebody has changed it beyond use. */
export const readSandboxFile = (dataDir: string): Promise<SandboxFile | null> =>
  readState(join(dataDir, SANDBOX), sandboxFile);

export const writeSandboxFile = (dataDir: string, file: SandboxFile): Promise<string> =>
  writeState(join(dataDir, SANDBOX), file);

/** What `forge.json` of a data directory says, or null. */
export const readForgeFile = (dataDir: string): Promise<ForgeFile | null> =>
  readState(join(dataDir, FORGE), forgeFile);

/** Says how a forge is reached and what opens it; gives the file's path. */
export const writeForgeFile = (dataDir: string, forge: RunningForge): Promise<string> =>
  writeState(join(dataDir, FORGE), {
    apiUrl: forge.apiUrl,
    cloneUrl: forge.cloneUrl,
    appId: forge.app.id,
    privateKey: forge.app.privateKey,
    webhookSecret: forge.app.webhookSecret,
    users: forge.users.map(({ login, token }) => ({ login, token })),
    control: forge.controlDoor ?? undefined,
  } satisfies ForgeFile);

/** A token for the control of a forge that is about to start: good until that ends. */
export const newControlToken = (): string => randomBytes(24).toString("base64url");

async function readState<T>(path: string, shape: z.ZodType<T>): Promise<T | null> {
  try {
    return shape.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return null;
  }
}

/** Nobody ever reads half a file, and nobody else reads any of it. */
async function writeState(path: string, content: object): Promise<string> {
  await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return path;
}
