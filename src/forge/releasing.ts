/** What releases and the trunk report ask of the forge and order from it; a part of the port (`forge.ts`). */
import type { Refusal } from "../flow/refusal.ts";
import type { CreatedRef, Ordered, RepositoryRef } from "./values.ts";

/** Branches that exist only while an order is carried out begin so. Whatever the forge reports about them is nobody's news. */
export const TEMPORARY_BRANCHES = "trunkline/tmp/";

/** The one that a pick has while it is worked out: the same over all its tries. */
export const pickBranch = (pickId: string): string => `${TEMPORARY_BRANCHES}pick-${pickId}`;

export interface BranchTip {
  readonly branchName: string;
  readonly sha: string;
}

export interface PickOrder {
  readonly branchName: string;
  /** Where the branch stands as far as the caller knows. The same over all tries of one pick. */
  readonly expectedTip: string;
  /** The merged ones whose commits are picked, in this order. Of a merge commit its change against the first parent is picked. */
  readonly pullRequests: readonly number[];
  /** Begins with `TEMPORARY_BRANCHES`; the same over all tries of one pick. */
  readonly tempBranch: string;
}

export type PickResult =
  /** The branch's new tip, or, where an earlier try had come this far, the last commit that it picked. */
  | { readonly state: "picked"; readonly sha: string; readonly commits: readonly string[] }
  /** The branch has all these changes; nothing was written. */
  | { readonly state: "contained" }
  /** `files` are those changed on both sides; empty where the forge does not tell. Nothing was written. */
  | { readonly state: "conflict"; readonly files: readonly string[]; readonly message: string }
  | BranchMoved;

/** The branch stands elsewhere, without these commits. Null: it is gone. */
export interface BranchMoved {
  readonly state: "moved";
  readonly sha: string | null;
}

/** A branch deleted or found gone (`deleted` false), or found at another commit. */
export type DeletedBranch = Ordered<{ readonly deleted: boolean } | { readonly moved: string }>;

export type MovedBranch = Ordered<{ readonly state: "there" } | BranchMoved>;

/** A pick that is worked out and on no branch yet. */
export interface PreparedPick {
  readonly state: "prepared";
  /** What the branch's tip would be. */
  readonly sha: string;
  /** What is picked: the commits that the pull requests left on the branch they were merged into. */
  readonly commits: readonly string[];
  /** For the forge, when it is landed or dropped. */
  readonly handle: string;
}

export interface TaggingQuestion {
  readonly repository: RepositoryRef;
  readonly branchName: string;
  readonly tagName: string;
}

export type TaggingAnswer =
  | { readonly refusal: Refusal }
  /** The commits the branch is at and the tag leads to; null for what is not there. */
  | { readonly refusal?: undefined; readonly branchSha: string | null; readonly tagSha: string | null };

export interface TipTag {
  readonly branchName: string;
  readonly tagName: string;
  readonly sha: string;
}

export interface NewTag {
  readonly repository: RepositoryRef;
  readonly tagName: string;
  readonly sha: string;
}

/** How many tags one call may make: a forge gives each call only so long. */
export const TAGS_AT_ONCE = 10;

export interface ReleaseNotes {
  readonly tagName: string;
  /** The commit of the tag. */
  readonly sha: string;
  readonly name: string;
  readonly body: string;
}

export interface HistoryQuestion {
  readonly branchName: string;
  /** A commit to begin at instead of the branch's tip: `next` of an earlier answer. */
  readonly from: string | null;
  /** Not before this commit, and not telling it. */
  readonly after: string | null;
  /** Not what was committed before (ISO 8601). */
  readonly since: string;
}

/** A commit in the first-parent line of a branch. */
export interface LandedCommit {
  readonly sha: string;
  /** Of a merge: the commits of the merged branch, newest first; null where they are not all known. Empty for any other commit. */
  readonly brought: readonly { readonly sha: string; readonly message: string }[] | null;
  readonly message: string;
  readonly committedAt: string;
  /** Null where the forge knows no account for the author. */
  readonly authorLogin: string | null;
  readonly prNumber: number | null;
}

export interface LandedHistory {
  /** Newest first. */
  readonly commits: readonly LandedCommit[];
  /** Where to go on, when there was more than one answer can hold. */
  readonly next: string | null;
  /** Whether `after` was met. */
  readonly isJoined: boolean;
}

/** Everything here throws `ForgeUnavailable` as the rest of the port does. */
export interface Releasing {
  /** Whether a branch has a commit; null where there is no such branch or commit. */
  contains(repository: RepositoryRef, branchName: string, sha: string): Promise<boolean | null>;
  /** The first-parent line of a branch; null where there is no such branch. */
  landedCommits(repository: RepositoryRef, question: HistoryQuestion): Promise<LandedHistory | null>;
  /** What is found where tags are to be written, in the order asked: one call to the forge for each installation, for every 50. */
  lookBeforeTagging(questions: readonly TaggingQuestion[]): Promise<TaggingAnswer[]>;
  temporaryBranches(repository: RepositoryRef): Promise<readonly BranchTip[]>;

  /** Deletes a branch where it still stands at that commit. One that is gone is a success (`deleted` false). */
  deleteBranch(repository: RepositoryRef, branchName: string, expectedSha: string): Promise<DeletedBranch>;
  /**
   * Works out what bringing merged pull requests to a branch comes to: new commits by the same authors, whose messages name the originals, all
   * of them or none. The branch stays where it is. What is prepared waits on the temporary branch to be landed or dropped. Refused where the
   * forge knows of no such merge.
   */
  preparePick(repository: RepositoryRef, order: PickOrder): Promise<Ordered<PickResult | PreparedPick>>;
  /** Moves the branch to what was prepared, once, and only from where it was expected. Repeated, it picks nothing twice. */
  landPick(repository: RepositoryRef, order: PickOrder, prepared: PreparedPick): Promise<Ordered<PickResult>>;
  /** Forgets what was prepared; false where its temporary branch may be left. */
  dropPick(repository: RepositoryRef, order: PickOrder, prepared: PreparedPick): Promise<boolean>;
  /** Moves a branch from one commit to any other, back as well, and only from where it was expected. One already there is a success. */
  moveBranch(repository: RepositoryRef, branchName: string, from: string, to: string): Promise<MovedBranch>;
  /**
   * Creates a tag where no such tag is there and the branch is at that very commit, both found and done by the forge in one. False where it did
   * not say that it was done, for whatever reason: a look tells it.
   */
  tagTip(repository: RepositoryRef, tag: TipTag): Promise<boolean>;
  /**
   * Creates tags by one call, `TAGS_AT_ONCE` at most, in as many repositories of one installation: each for itself, none in place of one that is
   * there. Says of each whether the forge said that it made it; of the others nothing is known, `createTag` finds out.
   */
  createTags(tags: readonly NewTag[]): Promise<readonly boolean[]>;
  /** Creates a tag. One already there at the very commit is a success (`created` false); at another it is `{ taken: sha }`. */
  createTag(repository: RepositoryRef, tagName: string, sha: string): Promise<CreatedRef>;
  /**
   * Publishes the release of a tag, which the forge writes with it where it is not there yet; one that is there stays where it is. A release
   * already published for the tag is a success and left as it is.
   */
  publishRelease(repository: RepositoryRef, notes: ReleaseNotes): Promise<Ordered<{ readonly url: string }>>;
}
