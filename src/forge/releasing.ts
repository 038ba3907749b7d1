/** The part of the port (`forge.ts`) for releases and the trunk report. */
import type { TrunkCommit } from "../flow/trunk/landings.ts";
import type { Refusal } from "../flow/refusal.ts";
import type { CreatedRef, ForgeResult, RepositoryRef } from "./values.ts";

/** The prefix of branches that exist only during an operation. Their events are ignored. */
export const TEMPORARY_BRANCHES = "trunkline/tmp/";

/** The temporary branch of a pick, the same for all attempts. */
export const pickBranch = (pickId: string): string => `${TEMPORARY_BRANCHES}pick-${pickId}`;

export interface BranchTip {
  readonly branchName: string;
  readonly sha: string;
}

/** The same for all attempts of one pick. */
export interface PickOrder {
  readonly branchName: string;
  /** The branch's tip as far as the caller knows. */
  readonly expectedTip: string;
  /** Merged ones; picked as they landed. A merge commit is picked against its first parent. */
  readonly pullRequests: readonly number[];
  /** From `pickBranch`. */
  readonly tempBranch: string;
}

export type PickResult =
  /** `sha` is the new tip, or the last picked commit when an earlier attempt succeeded. */
  | { readonly state: "picked"; readonly sha: string; readonly commits: readonly string[] }
  /** The branch has all the changes already. */
  | { readonly state: "contained" }
  /** Nothing was written. `files` changed on both sides; empty if the forge does not list them. */
  | { readonly state: "conflict"; readonly files: readonly string[]; readonly message: string }
  | UnexpectedTip;

/** The branch is at another commit, without the picked ones. Null: it is deleted. */
interface UnexpectedTip {
  readonly state: "moved";
  readonly sha: string | null;
}

/** Deleted, or gone before (`deleted` false), or at another commit. */
export type DeletedBranch = ForgeResult<{ readonly deleted: boolean } | { readonly moved: string }>;

export type MoveBranchResult = ForgeResult<{ readonly state: "at_target" } | UnexpectedTip>;

/** Picked commits that are on no branch yet. */
export interface PreparedPick {
  readonly state: "prepared";
  /** The branch's tip after `applyPick`. */
  readonly sha: string;
  /** The commits that the pull requests added to their target, and that are picked. */
  readonly commits: readonly string[];
  /** Opaque; the adapter needs it to apply or discard the pick. */
  readonly handle: string;
}

export interface TaggingQuestion {
  readonly repository: RepositoryRef;
  readonly branchName: string;
  readonly tagName: string;
}

export type TagInspection =
  | { readonly refusal: Refusal }
  /** The commits of the branch and the tag; null for one that does not exist. */
  | { readonly refusal?: undefined; readonly branchSha: string | null; readonly tagSha: string | null };

export interface TipTag extends BranchTip {
  readonly tagName: string;
}

export interface NewTag extends Pick<TipTag, "sha" | "tagName"> {
  readonly repository: RepositoryRef;
}

/** The most tags for one call, because forges limit the time of a call. */
export const MAX_TAGS_PER_CALL = 10;

export interface ReleaseNotes {
  readonly tagName: string;
  /** The commit of the tag. */
  readonly sha: string;
  readonly name: string;
  readonly body: string;
  /** The pull requests of the repository that the body may link to. */
  readonly references?: readonly number[];
  readonly isPrerelease: boolean;
  /**
   * Whether the forge shows it as the repository's latest release; never a prerelease. Null: the
   * forge decides by dates and versions.
   */
  readonly isLatest: boolean | null;
}

/** How many tags of a repository are read, the newest first. */
export const MAX_TAGS_READ = 5_000;

/** The names of a repository's tags, newest first, or the forge's refusal. Null: not read in time. */
export type TagNames = ForgeResult<readonly string[] | null>;

export interface HistoryQuestion {
  readonly branchName: string;
  /** The commit to start from instead of the branch's tip: `next` of an earlier response. */
  readonly from: string | null;
  /** Stop before this commit. */
  readonly after: string | null;
  /** Stop where the commits are older than this (ISO 8601). */
  readonly since: string;
}

export interface LandedHistory {
  /** Newest first. */
  readonly commits: readonly TrunkCommit[];
  /** Where the next response starts; null when this one is complete. */
  readonly next: string | null;
  /** Whether `after` was reached. */
  readonly reachesAfter: boolean;
}

/** Every method throws `ForgeUnavailable` as those of `Forge` do. */
export interface ReleaseForge {
  /** Whether a branch or commit contains a commit; null when either does not exist. */
  contains(repository: RepositoryRef, branchOrSha: string, sha: string): Promise<boolean | null>;
  /** The first-parent line of a branch; null when the branch does not exist. */
  landedCommits(repository: RepositoryRef, question: HistoryQuestion): Promise<LandedHistory | null>;
  /** The present branches and tags: one call per installation and 50 questions. */
  inspectTags(questions: readonly TaggingQuestion[]): Promise<TagInspection[]>;
  /** At most `MAX_TAGS_READ` tags each: one call per installation and 25 repositories, and one per further 100 tags. */
  tagNames(repositories: readonly RepositoryRef[]): Promise<readonly TagNames[]>;
  temporaryBranches(repository: RepositoryRef): Promise<readonly BranchTip[]>;

  /** Deletes a branch that is at the expected commit. A deleted one is a success. */
  deleteBranch(repository: RepositoryRef, branchName: string, expectedSha: string): Promise<DeletedBranch>;
  /**
   * Cherry-picks merged pull requests, all or none, into new commits with the original authors and
   * messages that name the originals. The branch does not change: the commits are on no branch
   * until `applyPick`. A temporary branch with helper commits exists until `applyPick` or
   * `discardPick`. Refused when a pull request is not merged on the forge.
   */
  preparePick(repository: RepositoryRef, order: PickOrder): Promise<ForgeResult<PickResult | PreparedPick>>;
  /** Moves the branch from the expected tip to the prepared one. It may be repeated. */
  applyPick(
    repository: RepositoryRef,
    order: PickOrder,
    prepared: PreparedPick,
  ): Promise<ForgeResult<PickResult>>;
  /** Removes the temporary branch; false when it may be left. */
  discardPick(repository: RepositoryRef, order: PickOrder, prepared: PreparedPick): Promise<boolean>;
  /** Moves a branch that is at `from`, also backwards. One that is at `to` already is a success. */
  moveBranch(
    repository: RepositoryRef,
    branchName: string,
    from: string,
    to: string,
  ): Promise<MoveBranchResult>;
  /**
   * Creates a tag atomically if it does not exist and the branch is at the commit. False unless the
   * forge confirmed it: read the tag to find out.
   */
  tagBranchTip(repository: RepositoryRef, tag: TipTag): Promise<boolean>;
  /**
   * Creates at most `MAX_TAGS_PER_CALL` tags in repositories of one installation in one call, each
   * independently. True for those that the forge confirmed; use `createTag` for the others.
   */
  createTags(tags: readonly NewTag[]): Promise<readonly boolean[]>;
  /** A tag that exists at the commit is a success (`created` false), else `{ taken: sha }`. */
  createTag(repository: RepositoryRef, tagName: string, sha: string): Promise<CreatedRef>;
  /** The page of a tag's published release; null without a published release. */
  releaseUrl(repository: RepositoryRef, tagName: string): Promise<string | null>;
  /**
   * Publishes the release of a tag, and creates the tag if it does not exist. An existing tag or
   * published release stays unchanged and is a success.
   */
  publishRelease(
    repository: RepositoryRef,
    notes: ReleaseNotes,
  ): Promise<ForgeResult<{ readonly url: string }>>;
}
