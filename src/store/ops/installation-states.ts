import type { UnavailableReason } from "../../forge/values.ts";
import { rows, type Db } from "../db/connect.ts";
import { limitsSql } from "../forge/forge-limits.ts";
import { CONTENT_BURST, contentLeftSql } from "../forge/forge-turns.ts";

export const INSTALLATION_STATES = ["active", "removed", "suspended", "refused"] as const;

/** An account on GitHub that has, or had, installed the App. */
interface InstallationState {
  readonly login: string;
  /** Null after the App was removed. */
  readonly installationId: number | null;
  readonly state: (typeof INSTALLATION_STATES)[number];
  /** Since when it is not active. */
  readonly since: Date | null;
  /** GitHub's message about a refused installation. */
  readonly refused: string | null;
  readonly missingPermissions: readonly string[];
  readonly boards: number;
  readonly repositories: number;
  /** Why GitHub did not respond to the last failed call, for a while after it. */
  readonly unavailable: UnavailableReason | null;
  /** GitHub limits requests until then; null if it does not. */
  readonly limitedUntil: Date | null;
  /** Calls that create content and may be made now; null while writes are not paced. */
  readonly contentLeft: number | null;
  readonly contentBurst: number;
}

/** Lists the installations of all organizations by login. */
export const listInstallationStates = (db: Db): Promise<InstallationState[]> =>
  rows<InstallationState>(
    db,
    `select o.slug as login, o.installation_id as "installationId",
            case when o.installation_id is null then 'removed' when o.suspended then 'suspended'
                 when o.refused is not null then 'refused' else 'active' end as state,
            o.broken_at as since, o.refused, o.missing_permissions as "missingPermissions",
            (select count(*) from workspaces w where w.organization_id = o.id) as boards,
            (select count(*) from repositories r where r.organization_id = o.id and r.connected) as repositories,
            case when o.unavailable_until > now() then o.unavailable_reason end as unavailable,
            l.limited_until as "limitedUntil", ${contentLeftSql("t")} as "contentLeft",
            ${CONTENT_BURST} as "contentBurst"
       from organizations o
       left join forge_limits l on ${limitsSql("o")}
       left join forge_turns t on t.installation_id = o.installation_id
      order by o.slug`,
  );
