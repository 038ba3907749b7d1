import { rows, type Db, type Trx } from "../db/connect.ts";

export interface WrittenTag {
  readonly repositoryId: string;
  readonly tagName: string;
  readonly sha: string;
  /** The page of its provider release; null before that is published. */
  readonly url: string | null;
}

/** The tags written for a release so far. */
export async function listReleaseTags(db: Db, releaseId: string): Promise<WrittenTag[]> {
  return rows<WrittenTag>(
    db,
    `select repository_id as "repositoryId", tag_name as "tagName", sha, url from release_tags
      where release_id = :releaseId`,
    { releaseId },
  );
}

/** Notes a tag, and the page of its release once there is one. */
export async function saveReleaseTag(
  db: Db,
  releaseId: string,
  { repositoryId, tagName, sha, url }: WrittenTag,
): Promise<void> {
  await db("release_tags")
    .insert({ release_id: releaseId, repository_id: repositoryId, tag_name: tagName, sha, url })
    .onConflict(["release_id", "repository_id"])
    .merge(["tag_name", "sha", "url"]);
}

/** A card as it is told in the notes of a repository's release. */
export interface CarriedCard {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  /** Whether it stands at the end of the flow. */
  readonly isDone: boolean;
  /** Its merged pull requests by repository; `isLater` of one known to have been merged after the release's branch was cut, and not picked. */
  readonly pullRequests: readonly {
    readonly repositoryId: string;
    readonly number: number;
    readonly isLater: boolean;
  }[];
}

/** SQL that is true of a merged pull request `p` that landed on its target after a release's branch `b` was cut from there, as far as it is known what landed. */
const IS_LATER = `
  exists (select 1 from release_branches b
            join landings cut on cut.repository_id = b.repository_id and cut.branch_name = p.target_branch and cut.sha = b.cut_sha
            join landings own on own.repository_id = cut.repository_id and own.branch_name = cut.branch_name
             and (own.key = '#' || p.number or own.sha = p.merge_sha)
           where b.release_id = :releaseId and b.repository_id = p.repository_id and own.seq > cut.seq)`;

/** What a release carries, by card number. */
export async function listCarriedCards(db: Db, releaseId: string): Promise<CarriedCard[]> {
  return rows<CarriedCard>(
    db,
    `select c.id, c.number, c.title, s.kind = 'done' as "isDone",
            coalesce((select json_agg(json_build_object('repositoryId', p.repository_id, 'number', p.number,
                                        'isLater', rc.picked_at is null and ${IS_LATER}) order by p.number)
                        from pull_requests p where p.card_id = c.id and p.state = 'merged'), '[]') as "pullRequests"
       from release_cards rc join cards c on c.id = rc.card_id join stages s on s.id = c.stage_id
      where rc.release_id = :releaseId order by c.number`,
    { releaseId },
  );
}

/** Says that a release has shipped: its cards are free for another one, and it keeps telling that it carried them. */
export async function completeScope(trx: Trx, releaseId: string): Promise<void> {
  await trx("releases").where({ id: releaseId }).update({ status: "completed", completed_at: trx.fn.now() });
  await trx("release_cards").where({ release_id: releaseId }).update({ is_open: false });
}
