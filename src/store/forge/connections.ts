import { BROKEN_KINDS, BROKEN_WORDS } from "../../flow/connection.ts";

const OUT_OF_REACH = `
  case when o.installation_id is null then 'uninstalled' when o.suspended then 'suspended'
       when o.refused is not null then 'refused' when not r.connected then 'not_granted' end`;

/** Why a repository `r` of the organization `o` cannot be used, in SQL; null while it can. */
export const BROKEN = `coalesce(${OUT_OF_REACH}, case when r.archived then 'archived' end)`;

/** For how long it is believed that a repository lacks something: plans and server versions do change. */
const LACKING = "interval '1 hour'";

/** How the forge is asked about a repository `r` of the organization `o`, in SQL; null while it must not be. An archived one can be read, and says itself when it is one no more. */
export const REF = `
  case when ${OUT_OF_REACH} is null then json_build_object(
    'installationId', o.installation_id, 'forgeId', r.forge_id, 'fullName', r.full_name, 'nodeId', r.node_id,
    'lacks', array_remove(array[
      case when r.lacks_drafts_at > now() - ${LACKING} then 'drafts' end,
      case when r.lacks_async_merge_at > now() - ${LACKING} then 'async_merge' end], null)) end`;

/** What is wrong with a connection, in SQL: the words for what `broken`, itself SQL, comes to. */
export const brokenWords = (broken: string): string => {
  const cases = BROKEN_KINDS.map(
    (name) => `when '${name}' then '${BROKEN_WORDS[name].replaceAll("'", "''")}'`,
  );
  return `case ${broken} ${cases.join(" ")} end`;
};
