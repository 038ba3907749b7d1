import type { Flow } from "../../flow/flow.ts";
import type { RepositoryRef } from "../../forge/values.ts";
import { rows, type Db } from "../db/connect.ts";
import { userKindSql } from "../tenancy/users.ts";
import { REF } from "./repositories.ts";

/** A proposal of an agent that a person may approve. */
export interface ApprovableProposal {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly number: number;
  readonly mergeMethod: Flow["mergeMethod"];
  /** Null while GitHub must not be called about the repository. */
  readonly forgeRef: RepositoryRef | null;
}

/**
 * The proposals of agents for a card that have this head. Merged ones are included, for a repeated
 * call whose first response was lost.
 */
export const listProposals = (db: Db, cardId: string, headSha: string): Promise<ApprovableProposal[]> =>
  rows<ApprovableProposal>(
    db,
    `select r.id as "repositoryId", r.full_name as "fullName", p.number, j.merge_method as "mergeMethod", ${REF} as "forgeRef"
       from proposals p
       join cards c on c.id = p.card_id
       join projects j on j.id = c.project_id
       join repositories r on r.id = p.repository_id and r.project_id = c.project_id
       join organizations o on o.id = r.organization_id
       join users u on u.id = p.author_id and ${userKindSql("c.workspace_id", "u")} = 'agent'
      where p.card_id = :cardId and p.head_sha = :headSha and p.state <> 'closed'
      order by r.full_name, p.number`,
    { cardId, headSha },
  );
