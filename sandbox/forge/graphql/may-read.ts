import type { RepositoryRow } from "../rows.ts";
import { permits } from "../server/access.ts";
import type { Caller } from "../server/caller.ts";
import type { Permission } from "../server/route.ts";
import { forbidden } from "./refusal.ts";

/** An installation reads of a private repository only what it was permitted; public ones are open to all. */
export function assertMayRead(caller: Caller, repository: RepositoryRow, wanted: Permission): void {
  if (caller.kind === "installation" && repository.private && !permits(caller.permissions, wanted))
    throw forbidden();
}
