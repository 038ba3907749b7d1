// Generated from openapi.json and the routes of the console by `npm run console-types`.

export type Credential = {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly ("read" | "write")[];
  readonly boards: readonly {
    readonly workspaceId: string;
    readonly organizationId: string;
    readonly role: ("viewer" | "member" | "maintainer");
  }[];
  readonly answering: (string | null);
};

export type Problem = {
  readonly message: string;
  readonly error: string;
  readonly statusCode: number;
  readonly issues?: readonly {
    readonly path: string;
    readonly message: string;
  }[];
  readonly code?: ("claimed" | "claim_lost" | "claim_limit");
  readonly claim?: Claim;
  readonly reason?: ("rate_limit" | "unusable_response" | "outage");
};

export type Claim = {
  readonly generation: number;
  readonly holder: User;
  readonly expiresAt: string;
  readonly note: (string | null);
};

export type User = {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: (string | null);
  readonly kind: ("human" | "machine" | "agent");
};

export type Workspace = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly organizationId: string;
  readonly organizationSlug: string;
  readonly organizationName: string;
  readonly role: ("viewer" | "member" | "maintainer");
};

export type Organization = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly workspaceIds: readonly string[];
};

export type Board = {
  readonly columns: readonly {
    readonly statusId: string;
    readonly name: string;
    readonly kind: ("stage" | "done");
    readonly minRole: ("viewer" | "member" | "maintainer");
    readonly rule: Rule;
    readonly tasks: readonly BoardTask[];
  }[];
};

export type Rule = {
  readonly type: ("none" | "branch" | "draft_pull_request" | "pull_request" | "merge");
  readonly into: (string | null);
};

export type BoardTask = {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly projectId: string;
  readonly statusId: string;
  readonly priority: ("none" | "low" | "medium" | "high" | "urgent");
  readonly assignee: (User | null);
  readonly labels: readonly CardLabel[];
  readonly claim?: Claim;
  readonly repositories?: readonly {
    readonly fullName: string;
    readonly branchName: (string | null);
    readonly prNumber: (number | null);
    readonly prState: (("draft" | "open" | "merged" | "closed") | null);
    readonly checksState: (("passing" | "failing" | "pending") | null);
    readonly reviewState: (("approved" | "changes_requested" | "review_required") | null);
    readonly isBehind: (boolean | null);
    readonly hasConflicts: (boolean | null);
    readonly isInMergeQueue: (boolean | null);
  }[];
  readonly blocked?: (Blocked | null);
  readonly armed?: ({
    readonly statusId: string;
    readonly waitingFor: readonly BlockedReason[];
  } | null);
  readonly dueDate?: (string | null);
  readonly parentNumber?: (number | null);
  readonly featureId?: (string | null);
  readonly children?: Children;
  readonly commentCount?: number;
  readonly updatedAt?: string;
};

export type CardLabel = {
  readonly id: string;
  readonly name: string;
  readonly color: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
};

export type Blocked = {
  readonly reason: ("conflicts" | "checks_failing" | "checks_pending" | "nothing_to_merge" | "review_required" | "changes_requested" | "behind_base" | "protected" | "not_permitted" | "pull_request_closed" | "branch_missing" | "head_moved" | "queue_rejected" | "wip_limit" | "human_only" | "needs_second_person" | "unknown");
  readonly message: string;
  readonly repository: string;
  readonly reasons: readonly BlockedReason[];
  readonly statusId: string;
  readonly headSha: (string | null);
  readonly at: string;
};

export type BlockedReason = ({
  readonly reason: ("conflicts");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly prNumber?: number;
    readonly files?: readonly string[];
  };
} | {
  readonly reason: ("checks_failing" | "checks_pending");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly failing?: readonly string[];
    readonly pending?: readonly string[];
  };
} | {
  readonly reason: ("nothing_to_merge" | "changes_requested" | "behind_base" | "protected" | "not_permitted");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
  };
} | {
  readonly reason: ("review_required");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly ownApprovals?: readonly string[];
    readonly lastPusher?: string;
    readonly unresolved?: (number | null);
    readonly cause?: ("pusher_unknown" | "too_many_commits");
  };
} | {
  readonly reason: ("pull_request_closed");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly prNumber?: number;
  };
} | {
  readonly reason: ("branch_missing");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly branch?: string;
    readonly taken?: readonly string[];
  };
} | {
  readonly reason: ("head_moved");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly requiredSha?: string;
    readonly headSha?: (string | null);
  };
} | {
  readonly reason: ("queue_rejected");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly reason?: string;
  };
} | {
  readonly reason: ("wip_limit");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly wipLimit: number;
    readonly cards: number;
  };
} | {
  readonly reason: ("human_only");
  readonly message: string;
  readonly repository: string;
  readonly details: Readonly<Record<string, never>>;
} | {
  readonly reason: ("needs_second_person");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly cause: ("same_person" | "no_owner" | "author_unknown" | "pusher_unknown" | "too_many_commits");
    readonly headSha?: string;
  };
} | {
  readonly reason: ("unknown");
  readonly message: string;
  readonly repository: string;
  readonly details: {
    readonly checks?: readonly string[];
    readonly requiredReviews?: number;
    readonly rule?: ("code_scanning" | "last_push_approval" | "conversations");
    readonly mergeMethod?: ("merge" | "squash" | "rebase");
    readonly permissions?: readonly string[];
    readonly connection?: ("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project");
    readonly attempts?: number;
  };
});

export type Children = {
  readonly total: number;
  readonly done: number;
};

export type Card = {
  readonly id: string;
  readonly projectId: string;
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly statusId: string;
  readonly position: number;
  readonly priority: ("none" | "low" | "medium" | "high" | "urgent");
  readonly assignee: (User | null);
  readonly labels: readonly CardLabel[];
  readonly createdBy: User;
  readonly blocked: (Blocked | null);
  readonly repositories: readonly CardRepository[];
  readonly featureId: (string | null);
  readonly parentNumber: (number | null);
  readonly children: Children;
  readonly commentCount: number;
  readonly dueDate: (string | null);
  readonly hotfix: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly claim?: Claim;
  readonly armed?: ArmedMove;
};

export type CardRepository = {
  readonly fullName: string;
  readonly url: string;
  readonly cloneUrl: string;
  readonly branchName: (string | null);
  readonly headSha: (string | null);
  readonly prNumber: (number | null);
  readonly prUrl: (string | null);
  readonly prState: (("draft" | "open" | "merged" | "closed") | null);
  readonly targetBranch: (string | null);
  readonly checksState: (("passing" | "failing" | "pending") | null);
  readonly reviewState: (("approved" | "changes_requested" | "review_required") | null);
  readonly hasConflicts: (boolean | null);
  readonly isBehind: (boolean | null);
  readonly isInMergeQueue: (boolean | null);
};

export type ArmedMove = {
  readonly id: string;
  readonly statusId: string;
  readonly by: User;
  readonly expiresAt: string;
  readonly heads: readonly {
    readonly fullName: string;
    readonly sha: string;
  }[];
  readonly waitingFor: readonly BlockedReason[];
};

export type ListedCard = {
  readonly id: string;
  readonly projectId: string;
  readonly number: number;
  readonly title: string;
  readonly description: string;
  readonly statusId: string;
  readonly priority: ("none" | "low" | "medium" | "high" | "urgent");
  readonly assignee: (User | null);
  readonly labels: readonly CardLabel[];
  readonly createdBy: User;
  readonly blocked: (Blocked | null);
  readonly repositories: readonly CardRepository[];
  readonly featureId: (string | null);
  readonly parentNumber: (number | null);
  readonly children: Children;
  readonly commentCount: number;
  readonly dueDate: (string | null);
  readonly hotfix: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly claim?: Claim;
  readonly armed?: ArmedMove;
};

export type MoveResult = {
  readonly task: {
    readonly number: number;
    readonly statusId: string;
    readonly blocked: (Blocked | null);
  };
  readonly promoted: readonly Promotion[];
  readonly alreadyMerged?: readonly Landed[];
  readonly armed?: ArmedMove;
  readonly queued?: readonly Promotion[];
};

export type Promotion = {
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: number;
};

export type Landed = {
  readonly fullName: string;
  readonly targetBranch: string;
  readonly prNumber: (number | null);
};

export type MoveRefusal = {
  readonly message: string;
  readonly error: string;
  readonly statusCode: number;
  readonly issues?: readonly {
    readonly path: string;
    readonly message: string;
  }[];
  readonly code?: ("claimed" | "claim_lost" | "claim_limit");
  readonly claim?: Claim;
  readonly reason?: ("rate_limit" | "unusable_response" | "outage");
  readonly blocked?: Blocked;
  readonly promoted?: readonly Promotion[];
  readonly alreadyMerged?: readonly Landed[];
};

export type TimelineItem = (TimelineEvent | TimelineComment);

export type TimelineEvent = ({
  readonly type: "event";
  readonly id: string;
  readonly kind: ("created");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly number: number;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("updated");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly fields: readonly string[];
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("status_changed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly from: string;
    readonly to: string;
    readonly above?: (number | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("branch_created");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly branchName: string;
    readonly sha: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("branch_adopted");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly branchName: string;
    readonly sha: (string | null);
    readonly prNumber: (number | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("branch_deleted");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly branchName: string;
    readonly sha: (string | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("pushed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly branchName: string;
    readonly before: (string | null);
    readonly after: string;
    readonly commits: readonly {
      readonly sha: string;
      readonly title: string;
    }[];
    readonly forced: boolean;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("pull_request_opened");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly isDraft?: boolean;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("pull_request_ready" | "pull_request_closed" | "pull_request_reopened");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("rules_bypassed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly rules: readonly string[];
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("pull_request_merged");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly sha?: (string | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("promotion_refused");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: Blocked;
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("refusal_withdrawn");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly statusId: string;
    readonly reason: ("conflicts" | "checks_failing" | "checks_pending" | "nothing_to_merge" | "review_required" | "changes_requested" | "behind_base" | "protected" | "not_permitted" | "pull_request_closed" | "branch_missing" | "head_moved" | "queue_rejected" | "wip_limit" | "human_only" | "needs_second_person" | "unknown");
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("checks_changed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly branchName: string;
    readonly sha: string;
    readonly from: (("passing" | "failing" | "pending") | null);
    readonly to: (("passing" | "failing" | "pending") | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("review_submitted");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly state: ("approved" | "changes_requested" | "commented" | "dismissed" | "pending");
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("repository_linked");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly repositoryId: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("repository_unlinked");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly repositoryId: string;
    readonly branchName: (string | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("backmerge_opened");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly branchName: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("release_added");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly releaseId: string;
    readonly releaseName: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("release_picked");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly releaseId: string;
    readonly releaseName: string;
    readonly commits: readonly string[];
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("release_completed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly releaseId: string;
    readonly releaseName: string;
    readonly tags: readonly {
      readonly fullName: string;
      readonly tagName: string;
      readonly sha: string;
    }[];
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("proposal_opened");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly headBranch: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("proposal_accepted");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly sha: (string | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("agent_gave_up");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly prNumber: (number | null);
    readonly reason: (string | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("claimed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly generation: number;
    readonly expiresAt: string;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("claim_released");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly generation: number;
    readonly outcome: (string | null);
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("claim_expired");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly generation: number;
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("armed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly armedId: string;
    readonly statusId: string;
    readonly expiresAt: string;
    readonly heads: readonly {
      readonly fullName: string;
      readonly sha: string;
    }[];
  };
  readonly at: string;
} | {
  readonly type: "event";
  readonly id: string;
  readonly kind: ("disarmed");
  readonly actor: Actor;
  readonly repositoryFullName: (string | null);
  readonly data: {
    readonly armedId: string;
    readonly statusId: string;
    readonly reason: ("expired" | "cancelled" | "replaced" | "moved" | "card_deleted" | "repositories_changed" | "flow_changed" | "pull_request_changed" | "conflicts" | "checks_failing" | "checks_pending" | "nothing_to_merge" | "review_required" | "changes_requested" | "behind_base" | "protected" | "not_permitted" | "pull_request_closed" | "branch_missing" | "head_moved" | "queue_rejected" | "wip_limit" | "human_only" | "needs_second_person" | "unknown");
    readonly message: string;
  };
  readonly at: string;
});

export type Actor = {
  readonly user: {
    readonly id: string;
    readonly name: string;
    readonly kind: ("human" | "machine" | "agent");
  };
  readonly login: (string | null);
};

export type TimelineComment = {
  readonly type: "comment";
  readonly id: string;
  readonly body: string;
  readonly author: Actor;
  readonly editable: boolean;
  readonly at: string;
  readonly editedAt: (string | null);
};

export type MovePlan = {
  readonly wouldMove: boolean;
  readonly certainty: ("certain" | "likely" | "unknown");
  readonly steps: readonly MovePlanStep[];
  readonly reasons: readonly BlockedReason[];
  readonly warnings: readonly {
    readonly repository: string;
    readonly message: string;
  }[];
  readonly whenReady: {
    readonly wouldArm: boolean;
    readonly certainty: ("certain" | "likely");
    readonly waitingFor: readonly BlockedReason[];
  };
  readonly requiredRole: ("viewer" | "member" | "maintainer");
  readonly heldRole: ("viewer" | "member" | "maintainer");
};

export type MovePlanStep = {
  readonly action: ("create_branch" | "restore_branch" | "open_pull_request" | "mark_ready" | "merge");
  readonly fullName: string;
  readonly branchName: string;
  readonly targetBranch: string;
  readonly prNumber: (number | null);
};

export type Comment = {
  readonly id: string;
  readonly body: string;
  readonly author: Actor;
  readonly mirroredTo: number;
  readonly editable: boolean;
  readonly at: string;
  readonly editedAt: (string | null);
};

export type HeldClaim = {
  readonly claimId: string;
  readonly generation: number;
  readonly holder: User;
  readonly expiresAt: string;
  readonly note: (string | null);
};

export type NextClaim = {
  readonly card: Card;
  readonly claim: HeldClaim;
};

export type ChecksEntry = {
  readonly repository: string;
  readonly branchName: string;
  readonly runs: (readonly CheckRun[] | null);
  readonly error: (string | null);
};

export type CheckRun = {
  readonly id: string;
  readonly name: string;
  readonly workflow?: {
    readonly name: string;
    readonly event: string;
  };
  readonly state: ("passing" | "failing" | "pending" | "skipped");
  readonly url: (string | null);
  readonly summary: (string | null);
  readonly notes: readonly CheckNote[];
};

export type CheckNote = {
  readonly path: string;
  readonly line: number;
  readonly level: ("notice" | "warning" | "failure");
  readonly message: string;
};

export type ReviewsEntry = {
  readonly repository: string;
  readonly prNumber: number;
  readonly reviews: (readonly {
    readonly author: string;
    readonly state: ("approved" | "changes_requested" | "commented" | "dismissed" | "pending");
    readonly body: string;
  }[] | null);
  readonly error: (string | null);
};

export type SearchResults = {
  readonly results: readonly SearchResult[];
};

export type SearchResult = {
  readonly kind: ("card" | "page" | "comment");
  readonly id: string;
  readonly number: (number | null);
  readonly slug: (string | null);
  readonly title: string;
  readonly snippet: string;
  readonly author: Actor;
  readonly at: string;
};

export type Label = {
  readonly id: string;
  readonly name: string;
  readonly color: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
  readonly taskCount: number;
};

export type Feature = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly color: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
  readonly taskCount: number;
  readonly doneCount: number;
  readonly archived: boolean;
  readonly position: number;
};

export type Project = {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly repositoryCount: number;
  readonly taskCount: number;
  readonly createdAt: string;
};

export type Flow = {
  readonly releases: boolean;
  readonly branchPattern: string;
  readonly mergeMethod: ("merge" | "squash" | "rebase");
  readonly checks: ("required" | "ignored");
  readonly staleAfterDays: number;
  readonly agentSilenceHours: number;
  readonly verification: {
    readonly independentApproval: boolean;
    readonly bypassRules: boolean;
    readonly checksStartSeconds: number;
  };
  readonly stages: readonly {
    readonly id: string;
    readonly name: string;
    readonly kind: ("backlog" | "stage" | "done");
    readonly minRole: ("viewer" | "member" | "maintainer");
    readonly rule: Rule;
    readonly gates?: {
      readonly wipLimit: (number | null);
      readonly humanOnly: boolean;
      readonly secondPerson: boolean;
    };
  }[];
};

export type Repository = {
  readonly id: string;
  readonly fullName: string;
  readonly defaultBranch: string;
  readonly linkByDefault: boolean;
  readonly connected: boolean;
  readonly health: {
    readonly broken: (("uninstalled" | "suspended" | "refused" | "not_granted" | "archived" | "other_project") | null);
    readonly lastWebhookAt: (string | null);
    readonly lastReconciledAt: (string | null);
    readonly missingPermissions: readonly string[];
    readonly unavailable: ({
      readonly reason: ("rate_limit" | "unusable_response" | "outage");
      readonly until: string;
    } | null);
  };
  readonly projectId: (string | null);
};

export type ListedPullRequest = {
  readonly number: number;
  readonly title: string;
  readonly author: (string | null);
  readonly isDraft: boolean;
  readonly headBranch: string;
  readonly isFromFork: boolean;
  readonly targetBranch: string;
  readonly url: string;
  readonly updatedAt: (string | null);
  readonly cardNumber: (number | null);
};

export type Member = {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: (string | null);
  readonly kind: ("human" | "machine" | "agent");
  readonly role: ("viewer" | "member" | "maintainer");
};

export type PageSummary = {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly parentId: (string | null);
  readonly position: number;
};

export type Page = {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
  readonly parentId: (string | null);
  readonly position: number;
  readonly body: string;
  readonly createdBy: string;
  readonly updatedBy: string;
  readonly backlinks: readonly {
    readonly id: string;
    readonly title: string;
    readonly slug: string;
  }[];
  readonly dangling: readonly string[];
  readonly tasks: readonly {
    readonly id: string;
    readonly number: number;
    readonly title: string;
    readonly projectId: string;
    readonly statusId: string;
  }[];
};

export type Release = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly status: ("open" | "completed");
  readonly frozenAt: (string | null);
  readonly taskCount: number;
  readonly missingCount: number;
  readonly createdByName: string;
  readonly createdAt: string;
  readonly completedAt: (string | null);
  readonly tags: readonly ReleaseTag[];
};

export type ReleaseTag = {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly tagName: string;
  readonly sha: string;
  readonly url: (string | null);
};

export type ReleaseDetails = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly status: ("open" | "completed");
  readonly frozenAt: (string | null);
  readonly taskCount: number;
  readonly missingCount: number;
  readonly createdByName: string;
  readonly createdAt: string;
  readonly completedAt: (string | null);
  readonly tags: readonly ReleaseTag[];
  readonly cards: readonly {
    readonly number: number;
    readonly title: string;
    readonly statusId: (string | null);
    readonly pickedAt: (string | null);
    readonly isMissing: boolean;
  }[];
  readonly repositories: readonly {
    readonly repositoryId: string;
    readonly fullName: string;
    readonly branchName: (string | null);
    readonly headSha: (string | null);
    readonly holdsCards: boolean;
  }[];
};

export type PickRefusal = {
  readonly message: string;
  readonly error: string;
  readonly statusCode: number;
  readonly issues?: readonly {
    readonly path: string;
    readonly message: string;
  }[];
  readonly code?: ("claimed" | "claim_lost" | "claim_limit");
  readonly claim?: Claim;
  readonly reason?: ("rate_limit" | "unusable_response" | "outage");
  readonly repository?: string;
  readonly files?: readonly string[];
};

export type PromotionOutcome = {
  readonly promoted: readonly {
    readonly number: number;
    readonly statusId: string;
    readonly promoted: readonly Promotion[];
    readonly alreadyMerged?: readonly Landed[];
  }[];
  readonly refused: readonly {
    readonly number: number;
    readonly repository: (string | null);
    readonly reason: ("conflicts" | "checks_failing" | "checks_pending" | "nothing_to_merge" | "review_required" | "changes_requested" | "behind_base" | "protected" | "not_permitted" | "pull_request_closed" | "branch_missing" | "head_moved" | "queue_rejected" | "wip_limit" | "human_only" | "needs_second_person" | "unknown");
    readonly message: string;
    readonly promoted?: readonly Promotion[];
    readonly alreadyMerged?: readonly Landed[];
  }[];
  readonly skipped: readonly {
    readonly number: number;
    readonly reason: ("already_there" | "being_moved" | "cancelled" | "deleted" | "not_permitted" | "stage_removed");
  }[];
  readonly pending: readonly number[];
  readonly operationId: (string | null);
};

export type ReleasePreview = {
  readonly repositories: readonly {
    readonly repositoryId: string;
    readonly fullName: string;
    readonly holdsCards: boolean;
    readonly freeze: {
      readonly branchName: string;
      readonly startsFrom: string;
    };
    readonly complete: {
      readonly branchName: (string | null);
      readonly sha: (string | null);
      readonly tagName: (string | null);
      readonly isPublished: boolean;
      readonly suggestedTagName: (string | null);
      readonly prerelease: (boolean | null);
      readonly latest: (boolean | null);
      readonly notes: string;
    };
  }[];
  readonly missingCards: readonly number[];
  readonly unmergedCards: readonly number[];
  readonly cardsOutside: readonly {
    readonly number: number;
    readonly title: string;
  }[];
  readonly unfreezeRefusal: (string | null);
};

export type ReleaseOperation = {
  readonly operation: ({
    readonly id: string;
    readonly kind: ("freeze" | "unfreeze" | "pick" | "promote" | "complete");
    readonly statusId: (string | null);
    readonly isCancelled: boolean;
  } | null);
};

export type Operation = {
  readonly id: string;
  readonly kind: ("move" | "freeze" | "unfreeze" | "pick" | "promote" | "complete");
  readonly subject: (({
    readonly type: "card";
    readonly number: number;
    readonly title: string;
  } | {
    readonly type: "release";
    readonly id: string;
    readonly name: string;
  }) | null);
  readonly state: ("running" | "queued" | "waiting" | "done" | "refused" | "abandoned");
  readonly by: User;
  readonly progress: ({
    readonly done: number;
    readonly total: (number | null);
  } | null);
  readonly startedAt: string;
};

export type InboxItem = ({
  readonly id: string;
  readonly kind: ("promotion_blocked");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: Blocked;
} | {
  readonly id: string;
  readonly kind: ("branch_suggestion");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly branchName: string;
    readonly login: (string | null);
  };
} | {
  readonly id: string;
  readonly kind: ("branch_deleted");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly branchName: string;
    readonly sha: (string | null);
    readonly login: (string | null);
  };
} | {
  readonly id: string;
  readonly kind: ("error_reported");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly monitorId: string;
    readonly monitorName: string;
    readonly fingerprint: string;
    readonly title: string;
    readonly url: (string | null);
  };
} | {
  readonly id: string;
  readonly kind: ("pr_merged_outside");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly sha: (string | null);
    readonly login: (string | null);
    readonly statusId: string;
  };
} | {
  readonly id: string;
  readonly kind: ("pr_closed_outside");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly prNumber: number;
    readonly targetBranch: string;
    readonly login: (string | null);
  };
} | {
  readonly id: string;
  readonly kind: ("checks_broken");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly prNumber: number;
    readonly branchName: string;
    readonly sha: string;
    readonly failing: readonly string[];
  };
} | {
  readonly id: string;
  readonly kind: ("waiting_stale");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly since: string;
    readonly staleAfterDays: number;
    readonly statusId: string;
  };
} | {
  readonly id: string;
  readonly kind: ("connection_broken");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly broken: ("uninstalled" | "suspended" | "refused" | "not_granted" | "permissions");
    readonly missing?: readonly string[];
    readonly unavailable: ({
      readonly reason: ("rate_limit" | "unusable_response" | "outage");
      readonly until: string;
    } | null);
  };
} | {
  readonly id: string;
  readonly kind: ("backmerge_open");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly targetBranch: string;
    readonly prNumber: (number | null);
    readonly branchName: (string | null);
    readonly sha: string;
    readonly releaseId: (string | null);
  };
} | {
  readonly id: string;
  readonly kind: ("proposal_waiting");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly prNumber: number;
    readonly title: string;
    readonly headBranch: string;
    readonly targetBranch: string;
    readonly isDraft: boolean;
    readonly login: (string | null);
    readonly headSha: string;
  };
} | {
  readonly id: string;
  readonly kind: ("agent_gave_up");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly prNumber: (number | null);
    readonly reason: (string | null);
    readonly login: (string | null);
    readonly name: string;
  };
} | {
  readonly id: string;
  readonly kind: ("agent_stopped_reacting");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly prNumber: number;
    readonly login: (string | null);
    readonly reason: ("changes_requested" | "checks_failing" | "question");
    readonly since: string;
    readonly agentSilenceHours: number;
  };
} | {
  readonly id: string;
  readonly kind: ("move_disarmed");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly armedId: string;
    readonly statusId: string;
    readonly reason: ("expired" | "cancelled" | "replaced" | "moved" | "card_deleted" | "repositories_changed" | "flow_changed" | "pull_request_changed" | "conflicts" | "checks_failing" | "checks_pending" | "nothing_to_merge" | "review_required" | "changes_requested" | "behind_base" | "protected" | "not_permitted" | "pull_request_closed" | "branch_missing" | "head_moved" | "queue_rejected" | "wip_limit" | "human_only" | "needs_second_person" | "unknown");
    readonly message: string;
  };
} | {
  readonly id: string;
  readonly kind: ("webhook_paused");
  readonly detail: string;
  readonly projectId: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly repository: (string | null);
  readonly dismissible: boolean;
  readonly at: string;
  readonly data: {
    readonly webhookId: string;
    readonly reason: ("failing" | "gone" | "left");
  };
});

export type EventPage = {
  readonly events: readonly Event[];
  readonly next: string;
  readonly head: string;
  readonly oldest: string;
};

export type Event = {
  readonly seq: number;
  readonly id: string;
  readonly kind: ("updated" | "status_changed" | "branch_created" | "branch_adopted" | "branch_deleted" | "pushed" | "pull_request_opened" | "pull_request_ready" | "pull_request_merged" | "rules_bypassed" | "pull_request_closed" | "pull_request_reopened" | "promotion_refused" | "refusal_withdrawn" | "checks_changed" | "review_submitted" | "repository_linked" | "repository_unlinked" | "backmerge_opened" | "release_added" | "release_picked" | "release_completed" | "proposal_opened" | "proposal_accepted" | "agent_gave_up" | "claimed" | "claim_released" | "claim_expired" | "armed" | "disarmed" | "comment" | "comment_edited" | "comment_deleted" | "card_created" | "card_deleted" | "card_reordered" | "armed_changed" | "blocked" | "unblocked" | "git_facts_changed" | "label_changed" | "feature_changed" | "page_changed" | "flow_changed" | "project_changed" | "member_changed" | "release_changed" | "inbox_dismissed");
  readonly at: string;
  readonly card: ({
    readonly number: number;
    readonly title: string;
  } | null);
  readonly actor: (Actor | null);
  readonly data: Readonly<Record<string, unknown>>;
};

export type Webhook = {
  readonly id: string;
  readonly url: string;
  readonly kinds: (readonly ("updated" | "status_changed" | "branch_created" | "branch_adopted" | "branch_deleted" | "pushed" | "pull_request_opened" | "pull_request_ready" | "pull_request_merged" | "rules_bypassed" | "pull_request_closed" | "pull_request_reopened" | "promotion_refused" | "refusal_withdrawn" | "checks_changed" | "review_submitted" | "repository_linked" | "repository_unlinked" | "backmerge_opened" | "release_added" | "release_picked" | "release_completed" | "proposal_opened" | "proposal_accepted" | "agent_gave_up" | "claimed" | "claim_released" | "claim_expired" | "armed" | "disarmed" | "comment" | "comment_edited" | "comment_deleted" | "card_created" | "card_deleted" | "card_reordered" | "armed_changed" | "blocked" | "unblocked" | "git_facts_changed" | "label_changed" | "feature_changed" | "page_changed" | "flow_changed" | "project_changed" | "member_changed" | "release_changed" | "inbox_dismissed")[] | null);
  readonly paused: boolean;
  readonly pausedReason: (("maintainer" | "failing" | "gone" | "left") | null);
  readonly pausedAt: (string | null);
  readonly position: string;
  readonly failingSince: (string | null);
  readonly nextAttemptAt: (string | null);
  readonly createdBy: (User | null);
  readonly createdAt: string;
};

export type WebhookDelivery = {
  readonly id: string;
  readonly eventId: string;
  readonly kind: string;
  readonly at: string;
  readonly status: (number | null);
  readonly error: (string | null);
  readonly ms: number;
  readonly response: string;
};

export type TrunkReport = {
  readonly from: string;
  readonly to: string;
  readonly delivered: readonly {
    readonly number: number;
    readonly title: string;
    readonly deliveredAt: string;
    readonly leadTimeDays: number;
    readonly repositories: readonly {
      readonly fullName: string;
      readonly targetBranch: string;
      readonly prNumber: number;
      readonly sha: (string | null);
      readonly mergedBy: (Actor | null);
    }[];
  }[];
  readonly promised: readonly {
    readonly number: number;
    readonly title: string;
    readonly releaseId: string;
    readonly releaseName: string;
    readonly statusId: string;
  }[];
  readonly numbers: {
    readonly landed: number;
    readonly owed: number;
    readonly refusals: number;
    readonly reverts: number;
    readonly leadTimeDays: (number | null);
  };
  readonly releases: readonly {
    readonly id: string;
    readonly name: string;
    readonly completedAt: string;
    readonly tags: readonly ReleaseTag[];
    readonly cards: readonly {
      readonly number: number;
      readonly title: string;
    }[];
  }[];
  readonly landings: readonly {
    readonly fullName: string;
    readonly branchName: string;
    readonly sha: string;
    readonly title: string;
    readonly author: (string | null);
    readonly prNumber: (number | null);
    readonly card: ({
      readonly number: number;
      readonly title: string;
    } | null);
    readonly via: ("service" | "outside");
    readonly reverts: (string | null);
    readonly at: string;
  }[];
};

export type Person = {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: (string | null);
  readonly kind: ("human" | "machine" | "agent");
  readonly login: string;
  readonly role: ("viewer" | "member" | "maintainer");
  readonly joinedAt: string;
  readonly lastSeenAt: (string | null);
  readonly keys: readonly string[];
  readonly webhooks: readonly string[];
  readonly monitors: readonly string[];
};

export type Invitation = {
  readonly id: string;
  readonly login: string;
  readonly avatarUrl: (string | null);
  readonly role: ("viewer" | "member" | "maintainer");
  readonly invitedBy: (string | null);
  readonly createdAt: string;
};

export type Agent = {
  readonly id: string;
  readonly login: string;
  readonly avatarUrl: (string | null);
  readonly isRegistered: boolean;
  readonly owner: ({
    readonly id: string;
    readonly login: (string | null);
  } | null);
};

export type ApiKey = {
  readonly id: string;
  readonly clientId: string;
  readonly name: string;
  readonly userId: string;
  readonly owner: ({
    readonly id: string;
    readonly login: (string | null);
  } | null);
  readonly role: (("viewer" | "member" | "maintainer") | null);
  readonly otherBoards: number;
  readonly scopes: readonly ("read" | "write")[];
  readonly createdAt: string;
  readonly expiresAt: (string | null);
  readonly previousUntil: (string | null);
  readonly lastUsedAt: (string | null);
  readonly revokedAt: (string | null);
};

export type IssuedApiKey = {
  readonly id: string;
  readonly clientId: string;
  readonly name: string;
  readonly userId: string;
  readonly owner: ({
    readonly id: string;
    readonly login: (string | null);
  } | null);
  readonly role: (("viewer" | "member" | "maintainer") | null);
  readonly otherBoards: number;
  readonly scopes: readonly ("read" | "write")[];
  readonly createdAt: string;
  readonly expiresAt: (string | null);
  readonly previousUntil: (string | null);
  readonly lastUsedAt: (string | null);
  readonly revokedAt: (string | null);
  readonly apiKey: string;
};

export type Attempt = {
  readonly id: string;
  readonly at: string;
  readonly actor: ({
    readonly id: (string | null);
    readonly name: string;
    readonly kind: string;
  } | null);
  readonly credential: (string | null);
  readonly action: string;
  readonly targets: Readonly<Record<string, (string | number)>>;
  readonly outcome: {
    readonly status: (number | null);
    readonly problem: (string | null);
    readonly replay: boolean;
  };
  readonly address: (string | null);
  readonly userAgent: (string | null);
  readonly requestId: (string | null);
  readonly calls: readonly {
    readonly method: string;
    readonly ref: string;
    readonly result: string;
  }[];
  readonly events: readonly number[];
  readonly hash: (string | null);
  readonly names: {
    readonly card: ({
      readonly number: number;
      readonly title: (string | null);
      readonly isDeleted: boolean;
    } | null);
    readonly subject: (string | null);
    readonly to: (string | null);
    readonly refused: number;
  };
};

export type StageCards = {
  readonly id: string;
  readonly cards: {
    readonly count: number;
    readonly numbers: readonly number[];
  };
  readonly armed: {
    readonly count: number;
    readonly numbers: readonly number[];
  };
};

export type FoundBranch = {
  readonly repositoryId: string;
  readonly fullName: string;
  readonly exists: (boolean | null);
};

export type ReleaseOfCard = {
  readonly id: string;
  readonly name: string;
  readonly status: ("open" | "completed");
  readonly frozenAt: (string | null);
  readonly isMissing: boolean;
};

export interface Operations {
  "GET /v1/me": {
    path: undefined;
    query: undefined;
    body: undefined;
    response: Credential;
  };
  "GET /v1/workspaces": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Workspace[];
  };
  "GET /v1/organizations": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Organization[];
  };
  "GET /v1/board": {
    path: undefined;
    query: {
      projectId?: string;
      include?: "details";
    };
    body: undefined;
    response: Board;
  };
  "GET /v1/backlog": {
    path: undefined;
    query: {
      projectId?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Card[];
  };
  "GET /v1/cards": {
    path: undefined;
    query: {
      assignee?: string;
      statusId?: string;
      label?: string;
      feature?: string;
      projectId?: string;
      blocked?: ("0" | "1");
      claimed?: ("true" | "false" | "mine");
      q?: string;
      sort?: ("number" | "-number" | "updated" | "-updated" | "board");
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly ListedCard[];
  };
  "POST /v1/cards": {
    path: undefined;
    query: undefined;
    body: {
      readonly title?: string;
      readonly description?: string;
      readonly pullRequest?: {
        readonly repositoryId: string;
        readonly number: number;
      };
      readonly branch?: {
        readonly repositoryId: string;
        readonly name: string;
      };
      readonly projectId?: string;
      readonly statusId?: string;
      readonly hotfix?: boolean;
      readonly repositoryIds?: readonly string[];
      readonly labelIds?: readonly string[];
      readonly featureId?: (string | null);
      readonly docIds?: readonly string[];
      readonly priority?: ("none" | "low" | "medium" | "high" | "urgent");
      readonly assigneeId?: (string | null);
      readonly assignee?: (string | null);
      readonly dueDate?: (string | null);
      readonly parentNumber?: (number | null);
    };
    response: Card;
  };
  "GET /v1/cards/{number}/children": {
    path: {
      number: number;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly ListedCard[];
  };
  "GET /v1/cards/{number}": {
    path: {
      number: number;
    };
    query: undefined;
    body: undefined;
    response: Card;
  };
  "PATCH /v1/cards/{number}": {
    path: {
      number: number;
    };
    query: undefined;
    body: {
      readonly title?: string;
      readonly description?: string;
      readonly repositoryIds?: readonly string[];
      readonly labelIds?: readonly string[];
      readonly featureId?: (string | null);
      readonly docIds?: readonly string[];
      readonly priority?: ("none" | "low" | "medium" | "high" | "urgent");
      readonly assigneeId?: (string | null);
      readonly assignee?: (string | null);
      readonly dueDate?: (string | null);
      readonly parentNumber?: (number | null);
    };
    response: Card;
  };
  "DELETE /v1/cards/{number}": {
    path: {
      number: number;
    };
    query: {
      closePullRequests?: ("true" | "false");
    };
    body: undefined;
    response: undefined;
  };
  "PUT /v1/cards/{number}/repositories/{repositoryId}": {
    path: {
      number: number;
      repositoryId: string;
    };
    query: undefined;
    body: {
      readonly branchName?: string;
      readonly prNumber?: number;
    };
    response: Card;
  };
  "DELETE /v1/cards/{number}/repositories/{repositoryId}": {
    path: {
      number: number;
      repositoryId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "POST /v1/cards/{number}/move": {
    path: {
      number: number;
    };
    query: undefined;
    body: {
      readonly statusId: string;
      readonly index: number;
      readonly headShas?: Readonly<Record<string, string>>;
      readonly whenReady?: {
        readonly expiresInHours?: number;
        readonly headShas?: Readonly<Record<string, string>>;
        readonly onFailingChecks?: ("disarm" | "wait");
      };
    };
    response: MoveResult;
  };
  "DELETE /v1/cards/{number}/armed": {
    path: {
      number: number;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "DELETE /v1/cards/{number}/blocked": {
    path: {
      number: number;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /v1/cards/{number}/timeline": {
    path: {
      number: number;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly TimelineItem[];
  };
  "GET /v1/cards/{number}/move-plan": {
    path: {
      number: number;
    };
    query: {
      statusId: string;
    };
    body: undefined;
    response: MovePlan;
  };
  "POST /v1/cards/{number}/comments": {
    path: {
      number: number;
    };
    query: undefined;
    body: {
      readonly body: string;
    };
    response: Comment;
  };
  "PATCH /v1/cards/{number}/comments/{commentId}": {
    path: {
      number: number;
      commentId: string;
    };
    query: undefined;
    body: {
      readonly body: string;
    };
    response: Comment;
  };
  "POST /v1/cards/{number}/claim": {
    path: {
      number: number;
    };
    query: undefined;
    body: {
      readonly ttlSeconds: number;
      readonly note?: (string | null);
      readonly claimId?: string;
    };
    response: HeldClaim;
  };
  "DELETE /v1/cards/{number}/claim": {
    path: {
      number: number;
    };
    query: undefined;
    body: {
      readonly outcome?: (string | null);
    };
    response: undefined;
  };
  "POST /v1/claims/next": {
    path: undefined;
    query: undefined;
    body: {
      readonly projectId?: string;
      readonly statusId?: string;
      readonly labels?: readonly string[];
      readonly ttlSeconds: number;
      readonly note?: (string | null);
    };
    response: NextClaim | undefined;
  };
  "GET /v1/cards/{number}/checks": {
    path: {
      number: number;
    };
    query: undefined;
    body: undefined;
    response: readonly ChecksEntry[];
  };
  "GET /v1/cards/{number}/reviews": {
    path: {
      number: number;
    };
    query: undefined;
    body: undefined;
    response: readonly ReviewsEntry[];
  };
  "GET /v1/search": {
    path: undefined;
    query: {
      q: string;
      kinds?: string;
      limit?: string;
    };
    body: undefined;
    response: SearchResults;
  };
  "GET /v1/labels": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Label[];
  };
  "POST /v1/labels": {
    path: undefined;
    query: undefined;
    body: {
      readonly name: string;
      readonly color?: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
    };
    response: Label;
  };
  "PATCH /v1/labels/{labelId}": {
    path: {
      labelId: string;
    };
    query: undefined;
    body: {
      readonly name?: string;
      readonly color?: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
    };
    response: Label;
  };
  "DELETE /v1/labels/{labelId}": {
    path: {
      labelId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /v1/features": {
    path: undefined;
    query: {
      archived?: ("0" | "1");
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Feature[];
  };
  "POST /v1/features": {
    path: undefined;
    query: undefined;
    body: {
      readonly name: string;
      readonly description?: string;
      readonly color?: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
    };
    response: Feature;
  };
  "PATCH /v1/features/{featureId}": {
    path: {
      featureId: string;
    };
    query: undefined;
    body: {
      readonly name?: string;
      readonly description?: string;
      readonly color?: ("gray" | "red" | "orange" | "yellow" | "green" | "teal" | "blue" | "indigo" | "purple" | "pink");
      readonly archived?: boolean;
      readonly position?: number;
    };
    response: Feature;
  };
  "DELETE /v1/features/{featureId}": {
    path: {
      featureId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /v1/projects": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Project[];
  };
  "POST /v1/projects": {
    path: undefined;
    query: undefined;
    body: {
      readonly name: string;
      readonly slug?: string;
      readonly description?: string;
      readonly flowFrom?: string;
    };
    response: Project;
  };
  "PATCH /v1/projects/{projectId}": {
    path: {
      projectId: string;
    };
    query: undefined;
    body: {
      readonly name?: string;
      readonly slug?: string;
      readonly description?: string;
    };
    response: Project;
  };
  "DELETE /v1/projects/{projectId}": {
    path: {
      projectId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /v1/projects/{projectId}/flow": {
    path: {
      projectId: string;
    };
    query: undefined;
    body: undefined;
    response: Flow;
  };
  "PUT /v1/projects/{projectId}/flow": {
    path: {
      projectId: string;
    };
    query: undefined;
    body: {
      readonly releases: boolean;
      readonly branchPattern: string;
      readonly mergeMethod: ("merge" | "squash" | "rebase");
      readonly checks: ("required" | "ignored");
      readonly staleAfterDays: number;
      readonly agentSilenceHours: number;
      readonly verification?: {
        readonly independentApproval?: boolean;
        readonly bypassRules?: boolean;
        readonly checksStartSeconds?: number;
      };
      readonly stages: readonly {
        readonly id?: string;
        readonly name: string;
        readonly kind: ("backlog" | "stage" | "done");
        readonly minRole: ("viewer" | "member" | "maintainer");
        readonly rule: {
          readonly type: ("none" | "branch" | "draft_pull_request" | "pull_request" | "merge");
          readonly into?: (string | null);
        };
        readonly gates?: {
          readonly wipLimit?: (number | null);
          readonly humanOnly?: boolean;
          readonly secondPerson?: boolean;
        };
      }[];
    };
    response: Flow;
  };
  "GET /v1/repositories": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Repository[];
  };
  "GET /v1/projects/{projectId}/repositories": {
    path: {
      projectId: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Repository[];
  };
  "PUT /v1/projects/{projectId}/repositories": {
    path: {
      projectId: string;
    };
    query: undefined;
    body: {
      readonly repositories: readonly {
        readonly id: string;
        readonly linkByDefault?: boolean;
      }[];
    };
    response: readonly Repository[];
  };
  "GET /v1/repositories/{repositoryId}/pull-requests": {
    path: {
      repositoryId: string;
    };
    query: {
      state?: "open";
      linked?: ("true" | "false");
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly ListedPullRequest[];
  };
  "GET /v1/members": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Member[];
  };
  "GET /v1/docs": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly PageSummary[];
  };
  "POST /v1/docs": {
    path: undefined;
    query: undefined;
    body: {
      readonly title: string;
      readonly body?: string;
      readonly parentId?: (string | null);
    };
    response: Page;
  };
  "GET /v1/docs/{docId}": {
    path: {
      docId: string;
    };
    query: undefined;
    body: undefined;
    response: Page;
  };
  "PATCH /v1/docs/{docId}": {
    path: {
      docId: string;
    };
    query: undefined;
    body: {
      readonly title?: string;
      readonly body?: string;
      readonly parentId?: (string | null);
      readonly position?: number;
    };
    response: Page;
  };
  "DELETE /v1/docs/{docId}": {
    path: {
      docId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /v1/releases": {
    path: undefined;
    query: {
      projectId?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Release[];
  };
  "POST /v1/releases": {
    path: undefined;
    query: {
      projectId?: string;
    };
    body: {
      readonly name: string;
    };
    response: Release;
  };
  "GET /v1/releases/{id}": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: ReleaseDetails;
  };
  "DELETE /v1/releases/{id}": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "PUT /v1/releases/{id}/cards": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly taskNumbers: readonly number[];
    };
    response: undefined;
  };
  "POST /v1/releases/{id}/freeze": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: Release;
  };
  "DELETE /v1/releases/{id}/freeze": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: Release;
  };
  "POST /v1/releases/{id}/pick": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly taskNumber: number;
    };
    response: Release;
  };
  "POST /v1/releases/{id}/promote": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly statusId: string;
      readonly taskNumbers?: readonly number[];
    };
    response: PromotionOutcome;
  };
  "POST /v1/releases/{id}/complete": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly versions: readonly {
        readonly repositoryId: string;
        readonly tagName: string;
        readonly prerelease?: boolean;
        readonly latest?: boolean;
        readonly notes?: string;
      }[];
    };
    response: Release;
  };
  "GET /v1/releases/{id}/preview": {
    path: {
      id: string;
    };
    query: {
      tags?: string;
    };
    body: undefined;
    response: ReleasePreview;
  };
  "GET /v1/releases/{id}/operation": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: ReleaseOperation;
  };
  "GET /v1/operations": {
    path: undefined;
    query: {
      state?: ("running" | "queued" | "waiting" | "done" | "refused" | "abandoned");
      card?: number;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Operation[];
  };
  "GET /v1/operations/{operationId}": {
    path: {
      operationId: string;
    };
    query: undefined;
    body: undefined;
    response: PromotionOutcome;
  };
  "POST /v1/operations/{operationId}/cancel": {
    path: {
      operationId: string;
    };
    query: undefined;
    body: undefined;
    response: PromotionOutcome;
  };
  "GET /v1/inbox": {
    path: undefined;
    query: {
      projectId?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly InboxItem[];
  };
  "DELETE /v1/inbox/{itemId}": {
    path: {
      itemId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "POST /v1/inbox/{itemId}/adopt": {
    path: {
      itemId: string;
    };
    query: {
      card?: number;
    };
    body: undefined;
    response: undefined;
  };
  "GET /v1/events": {
    path: undefined;
    query: {
      kinds?: string;
      card?: string;
      after?: string;
      limit?: string;
      wait?: string;
    };
    body: undefined;
    response: EventPage;
  };
  "GET /v1/events/stream": {
    path: undefined;
    query: {
      kinds?: string;
      card?: string;
      after?: string;
    };
    body: undefined;
    response: undefined;
  };
  "GET /v1/webhooks": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Webhook[];
  };
  "POST /v1/webhooks": {
    path: undefined;
    query: undefined;
    body: {
      readonly url: string;
      readonly kinds?: (readonly ("updated" | "status_changed" | "branch_created" | "branch_adopted" | "branch_deleted" | "pushed" | "pull_request_opened" | "pull_request_ready" | "pull_request_merged" | "rules_bypassed" | "pull_request_closed" | "pull_request_reopened" | "promotion_refused" | "refusal_withdrawn" | "checks_changed" | "review_submitted" | "repository_linked" | "repository_unlinked" | "backmerge_opened" | "release_added" | "release_picked" | "release_completed" | "proposal_opened" | "proposal_accepted" | "agent_gave_up" | "claimed" | "claim_released" | "claim_expired" | "armed" | "disarmed" | "comment" | "comment_edited" | "comment_deleted" | "card_created" | "card_deleted" | "card_reordered" | "armed_changed" | "blocked" | "unblocked" | "git_facts_changed" | "label_changed" | "feature_changed" | "page_changed" | "flow_changed" | "project_changed" | "member_changed" | "release_changed" | "inbox_dismissed")[] | null);
    };
    response: {
      readonly id: string;
      readonly url: string;
      readonly kinds: (readonly ("updated" | "status_changed" | "branch_created" | "branch_adopted" | "branch_deleted" | "pushed" | "pull_request_opened" | "pull_request_ready" | "pull_request_merged" | "rules_bypassed" | "pull_request_closed" | "pull_request_reopened" | "promotion_refused" | "refusal_withdrawn" | "checks_changed" | "review_submitted" | "repository_linked" | "repository_unlinked" | "backmerge_opened" | "release_added" | "release_picked" | "release_completed" | "proposal_opened" | "proposal_accepted" | "agent_gave_up" | "claimed" | "claim_released" | "claim_expired" | "armed" | "disarmed" | "comment" | "comment_edited" | "comment_deleted" | "card_created" | "card_deleted" | "card_reordered" | "armed_changed" | "blocked" | "unblocked" | "git_facts_changed" | "label_changed" | "feature_changed" | "page_changed" | "flow_changed" | "project_changed" | "member_changed" | "release_changed" | "inbox_dismissed")[] | null);
      readonly paused: boolean;
      readonly pausedReason: (("maintainer" | "failing" | "gone" | "left") | null);
      readonly pausedAt: (string | null);
      readonly position: string;
      readonly failingSince: (string | null);
      readonly nextAttemptAt: (string | null);
      readonly createdBy: (User | null);
      readonly createdAt: string;
      readonly secret: string;
    };
  };
  "PATCH /v1/webhooks/{id}": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly url?: string;
      readonly kinds?: (readonly ("updated" | "status_changed" | "branch_created" | "branch_adopted" | "branch_deleted" | "pushed" | "pull_request_opened" | "pull_request_ready" | "pull_request_merged" | "rules_bypassed" | "pull_request_closed" | "pull_request_reopened" | "promotion_refused" | "refusal_withdrawn" | "checks_changed" | "review_submitted" | "repository_linked" | "repository_unlinked" | "backmerge_opened" | "release_added" | "release_picked" | "release_completed" | "proposal_opened" | "proposal_accepted" | "agent_gave_up" | "claimed" | "claim_released" | "claim_expired" | "armed" | "disarmed" | "comment" | "comment_edited" | "comment_deleted" | "card_created" | "card_deleted" | "card_reordered" | "armed_changed" | "blocked" | "unblocked" | "git_facts_changed" | "label_changed" | "feature_changed" | "page_changed" | "flow_changed" | "project_changed" | "member_changed" | "release_changed" | "inbox_dismissed")[] | null);
      readonly paused?: boolean;
    };
    response: Webhook;
  };
  "DELETE /v1/webhooks/{id}": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "POST /v1/webhooks/{id}/ping": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: WebhookDelivery;
  };
  "POST /v1/webhooks/{id}/rotate": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: {
      readonly id: string;
      readonly url: string;
      readonly kinds: (readonly ("updated" | "status_changed" | "branch_created" | "branch_adopted" | "branch_deleted" | "pushed" | "pull_request_opened" | "pull_request_ready" | "pull_request_merged" | "rules_bypassed" | "pull_request_closed" | "pull_request_reopened" | "promotion_refused" | "refusal_withdrawn" | "checks_changed" | "review_submitted" | "repository_linked" | "repository_unlinked" | "backmerge_opened" | "release_added" | "release_picked" | "release_completed" | "proposal_opened" | "proposal_accepted" | "agent_gave_up" | "claimed" | "claim_released" | "claim_expired" | "armed" | "disarmed" | "comment" | "comment_edited" | "comment_deleted" | "card_created" | "card_deleted" | "card_reordered" | "armed_changed" | "blocked" | "unblocked" | "git_facts_changed" | "label_changed" | "feature_changed" | "page_changed" | "flow_changed" | "project_changed" | "member_changed" | "release_changed" | "inbox_dismissed")[] | null);
      readonly paused: boolean;
      readonly pausedReason: (("maintainer" | "failing" | "gone" | "left") | null);
      readonly pausedAt: (string | null);
      readonly position: string;
      readonly failingSince: (string | null);
      readonly nextAttemptAt: (string | null);
      readonly createdBy: (User | null);
      readonly createdAt: string;
      readonly secret: string;
    };
  };
  "POST /v1/webhooks/{id}/replay": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly after: (number | string);
    };
    response: Webhook;
  };
  "GET /v1/webhooks/{id}/deliveries": {
    path: {
      id: string;
    };
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly WebhookDelivery[];
  };
  "GET /v1/audit": {
    path: undefined;
    query: {
      from?: string;
      to?: string;
      actor?: string;
      credential?: string;
      action?: string;
      outcome?: ("success" | "failure");
      order?: ("asc" | "desc");
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: undefined;
  };
  "GET /v1/trunk": {
    path: undefined;
    query: {
      from?: string;
      to?: string;
      projectId?: string;
    };
    body: undefined;
    response: TrunkReport;
  };
  "GET /v1/trunk/refusals": {
    path: undefined;
    query: {
      from?: string;
      to?: string;
      projectId?: string;
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly {
      readonly id: string;
      readonly number: number;
      readonly title: string;
      readonly refusal: Blocked;
    }[];
  };
  "GET /console/v1/people": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Person[];
  };
  "PATCH /console/v1/members/{userId}": {
    path: {
      userId: string;
    };
    query: undefined;
    body: {
      readonly role: ("viewer" | "member" | "maintainer");
      readonly from: ("viewer" | "member" | "maintainer");
    };
    response: Person;
  };
  "DELETE /console/v1/members/{userId}": {
    path: {
      userId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /console/v1/invitations": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Invitation[];
  };
  "POST /console/v1/invitations": {
    path: undefined;
    query: undefined;
    body: {
      readonly login: string;
      readonly role: ("viewer" | "member" | "maintainer");
    };
    response: Invitation;
  };
  "DELETE /console/v1/invitations/{id}": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /console/v1/agents": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Agent[];
  };
  "POST /console/v1/agents": {
    path: undefined;
    query: undefined;
    body: {
      readonly login: string;
      readonly ownerId: (string | null);
    };
    response: Agent;
  };
  "PATCH /console/v1/agents/{userId}": {
    path: {
      userId: string;
    };
    query: undefined;
    body: {
      readonly ownerId: (string | null);
    };
    response: Agent;
  };
  "DELETE /console/v1/agents/{userId}": {
    path: {
      userId: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /console/v1/credentials": {
    path: undefined;
    query: {
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly ApiKey[];
  };
  "POST /console/v1/credentials": {
    path: undefined;
    query: undefined;
    body: {
      readonly name: string;
      readonly role: ("viewer" | "member" | "maintainer");
      readonly scopes: readonly ("read" | "write")[];
      readonly expiresInDays: (number | null);
    };
    response: IssuedApiKey;
  };
  "POST /console/v1/credentials/{id}/rotate": {
    path: {
      id: string;
    };
    query: undefined;
    body: {
      readonly keepHours: number;
      readonly expiresInDays?: (number | null);
    };
    response: IssuedApiKey;
  };
  "DELETE /console/v1/credentials/{id}": {
    path: {
      id: string;
    };
    query: undefined;
    body: undefined;
    response: undefined;
  };
  "GET /console/v1/audit/attempts": {
    path: undefined;
    query: {
      from?: string;
      to?: string;
      actor?: string;
      credential?: string;
      action?: string;
      outcome?: ("success" | "failure");
      order?: ("asc" | "desc");
      limit?: number;
      cursor?: string;
    };
    body: undefined;
    response: readonly Attempt[];
  };
  "GET /console/v1/projects/{projectId}/stages": {
    path: {
      projectId: string;
    };
    query: undefined;
    body: undefined;
    response: readonly StageCards[];
  };
  "GET /console/v1/projects/{projectId}/branches": {
    path: {
      projectId: string;
    };
    query: {
      name: string;
    };
    body: undefined;
    response: readonly FoundBranch[];
  };
  "GET /console/v1/cards/{number}/releases": {
    path: {
      number: number;
    };
    query: undefined;
    body: undefined;
    response: readonly ReleaseOfCard[];
  };
}
