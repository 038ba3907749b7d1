import { isKnownAgent } from "../flow/agents.ts";
import type { ForgeAccount } from "../forge/forge.ts";
import type { Db } from "../store/db/connect.ts";
import type { Actor } from "../store/events/timeline.ts";
import { seeForgeUser } from "../store/tenancy/users.ts";
import type { Deps } from "./deps.ts";

/** The account GitHub shows in place of one that was deleted (https://github.com/ghost). */
const GHOST: ForgeAccount = { forgeId: 10_137, login: "ghost", avatarUrl: null, isBot: false };

/** Who did something on the forge, as a user of ours; the account gets one on first sight. */
export async function forgeActor(
  deps: Pick<Deps, "newId">,
  db: Db,
  account: ForgeAccount | null,
): Promise<Actor> {
  const known = account ?? GHOST;
  const kind = isKnownAgent(known.login) ? "agent" : "human";
  const user = await seeForgeUser(db, known, kind, deps.newId());
  return { userId: user.id, login: known.login };
}
