import { INBOX } from "../src/store/inbox/list-inbox.ts";
import { TRUNK_REPORT } from "../src/store/trunk-report.ts";

/** What the inbox and the trunk report ask of PostgreSQL, each in one statement about project `$1` whose text is passed through. */
export const REPORT_FLOORS = {
  inbox: `
    select coalesce(json_agg(i order by i.at desc, i.id desc), '[]')::text as body
      from (${INBOX.replaceAll(":projectId", "$1")}) i`,
  trunk: `
    select row_to_json(report)::text as body
      from (${TRUNK_REPORT.replaceAll(":projectId", "$1")
        .replaceAll(":begin", "date_trunc('day', now()) - interval '30 days'")
        .replaceAll(":end", "date_trunc('day', now()) + interval '1 day'")}) report`,
} as const;
