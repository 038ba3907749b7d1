// What the sandbox forge's GraphQL offers: the fields of each object and interface type, and the members of each union.

const ACTOR = "id databaseId login avatarUrl url resourcePath";
const GIT_OBJECT = "id oid abbreviatedOid commitUrl commitResourcePath repository";
const CONNECTION = "edges nodes pageInfo totalCount";
const EDGE = "cursor node";
const CHANGED_PULL_REQUEST = "clientMutationId pullRequest";
const ACTED_ON_PULL_REQUEST = `actor ${CHANGED_PULL_REQUEST}`;

export const FIELDS = {
  Query: "id node nodes rateLimit repository viewer",
  Mutation: `addComment convertPullRequestToDraft createRef deleteRef dequeuePullRequest disablePullRequestAutoMerge
    enablePullRequestAutoMerge enqueuePullRequest markPullRequestReadyForReview mergeBranch mergePullRequest
    revertPullRequest updateRef updateRefs`,
  RateLimit: "cost limit nodeCount remaining resetAt used",
  PageInfo: "endCursor hasNextPage hasPreviousPage startCursor",

  Node: "id",
  Actor: "avatarUrl login resourcePath url",
  RepositoryOwner: "id avatarUrl login resourcePath url",
  User: `${ACTOR} name email`,
  Bot: ACTOR,
  Organization: `${ACTOR} name`,
  App: "id databaseId name slug",

  Repository: `id databaseId name nameWithOwner owner url description defaultBranchRef ref refs object pullRequest pullRequests
    mergeQueue isArchived isDisabled isEmpty isFork isPrivate visibility autoMergeAllowed deleteBranchOnMerge
    mergeCommitAllowed rebaseMergeAllowed squashMergeAllowed createdAt updatedAt pushedAt`,
  Ref: "id name prefix repository target compare associatedPullRequests refUpdateRule rules",
  RefUpdateRule: `pattern allowsDeletions allowsForcePushes requiredApprovingReviewCount requiredStatusCheckContexts
    requiresCodeOwnerReviews requiresConversationResolution requiresLinearHistory requiresSignatures`,
  RepositoryRule: "id parameters repositoryRuleset type",
  RepositoryRuleset: "id databaseId enforcement name",
  PullRequestParameters: `dismissStaleReviewsOnPush requireCodeOwnerReview requireLastPushApproval requiredApprovingReviewCount
    requiredReviewThreadResolution`,
  CodeScanningParameters: "codeScanningTools",
  CodeScanningTool: "alertsThreshold securityAlertsThreshold tool",
  RequiredStatusChecksParameters:
    "doNotEnforceOnCreate requiredStatusChecks strictRequiredStatusChecksPolicy",
  StatusCheckConfiguration: "context integrationId",
  RepositoryRuleConnection: CONNECTION,
  RepositoryRuleEdge: EDGE,
  RefConnection: CONNECTION,
  RefEdge: EDGE,
  Comparison: "id aheadBy behindBy status baseTarget headTarget commits",
  ComparisonCommitConnection: `authorCount ${CONNECTION}`,

  GitObject: GIT_OBJECT,
  Commit: `${GIT_OBJECT} message messageHeadline messageBody author authors authoredDate committer committedDate parents tree history
    status statusCheckRollup checkSuites associatedPullRequests url`,
  CommitConnection: CONNECTION,
  CommitEdge: EDGE,
  CommitHistoryConnection: CONNECTION,
  GitActor: "avatarUrl date email name user",
  GitActorConnection: CONNECTION,
  GitActorEdge: EDGE,
  Tree: `${GIT_OBJECT} entries`,
  TreeEntry: "mode name object oid path type",
  Blob: `${GIT_OBJECT} byteSize isBinary isTruncated text`,
  Tag: `${GIT_OBJECT} message name tagger target`,

  StatusCheckRollup: "id commit contexts state",
  StatusCheckRollupContextConnection: `checkRunCount statusContextCount ${CONNECTION}`,
  StatusCheckRollupContextEdge: EDGE,
  CheckRun: `id databaseId name status conclusion detailsUrl externalId title summary text startedAt completedAt url permalink
    resourcePath repository checkSuite annotations isRequired`,
  CheckRunConnection: CONNECTION,
  CheckRunEdge: EDGE,
  CheckSuite: `id databaseId app checkRuns commit conclusion status createdAt updatedAt url resourcePath repository
    workflowRun`,
  CheckSuiteConnection: CONNECTION,
  CheckSuiteEdge: EDGE,
  WorkflowRun: "id databaseId checkSuite event runNumber createdAt updatedAt url resourcePath workflow",
  Workflow: "id databaseId name createdAt updatedAt url resourcePath",
  CheckAnnotation: "annotationLevel blobUrl location message path rawDetails title",
  CheckAnnotationSpan: "start end",
  CheckAnnotationPosition: "line column",
  CheckAnnotationConnection: CONNECTION,
  CheckAnnotationEdge: EDGE,
  RequirableByPullRequest: "isRequired",
  Status: "id commit contexts state",
  StatusContext: "id avatarUrl commit context createdAt creator description isRequired state targetUrl",

  PullRequest: `id databaseId fullDatabaseId number title body url permalink resourcePath state closed closedAt createdAt updatedAt
    author baseRef baseRefName baseRefOid baseRepository headRef headRefName headRefOid headRepository headRepositoryOwner
    isCrossRepository isDraft isInMergeQueue isMergeQueueEnabled mergeQueue mergeQueueEntry autoMergeRequest merged mergedAt
    mergedBy mergeCommit potentialMergeCommit mergeable mergeStateStatus canBeRebased maintainerCanModify reviewDecision
    reviews latestReviews latestOpinionatedReviews reviewThreads commits comments statusCheckRollup additions deletions
    changedFiles repository viewerCanMergeAsAdmin`,
  PullRequestConnection: CONNECTION,
  PullRequestEdge: EDGE,
  PullRequestCommit: "id commit pullRequest url resourcePath",
  PullRequestCommitConnection: CONNECTION,
  PullRequestCommitEdge: EDGE,
  PullRequestReview:
    "id databaseId fullDatabaseId author body state submittedAt createdAt updatedAt url commit pullRequest",
  PullRequestReviewConnection: CONNECTION,
  PullRequestReviewEdge: EDGE,
  PullRequestReviewThread: "id isOutdated isResolved path pullRequest repository resolvedBy",
  PullRequestReviewThreadConnection: CONNECTION,
  PullRequestReviewThreadEdge: EDGE,
  IssueComment: "id databaseId fullDatabaseId author body url createdAt updatedAt pullRequest repository",
  IssueCommentConnection: CONNECTION,
  IssueCommentEdge: EDGE,
  AutoMergeRequest: "authorEmail commitBody commitHeadline enabledAt enabledBy mergeMethod pullRequest",
  MergeQueue: "id entries repository resourcePath url",
  MergeQueueEntry: "id baseCommit enqueuedAt enqueuer headCommit jump position pullRequest solo state",
  MergeQueueEntryConnection: CONNECTION,
  MergeQueueEntryEdge: EDGE,

  AddCommentPayload: "clientMutationId commentEdge subject",
  ConvertPullRequestToDraftPayload: CHANGED_PULL_REQUEST,
  CreateRefPayload: "clientMutationId ref",
  DeleteRefPayload: "clientMutationId",
  DequeuePullRequestPayload: "clientMutationId mergeQueueEntry",
  DisablePullRequestAutoMergePayload: ACTED_ON_PULL_REQUEST,
  EnablePullRequestAutoMergePayload: ACTED_ON_PULL_REQUEST,
  EnqueuePullRequestPayload: "clientMutationId mergeQueueEntry",
  MarkPullRequestReadyForReviewPayload: CHANGED_PULL_REQUEST,
  MergeBranchPayload: "clientMutationId mergeCommit",
  MergePullRequestPayload: ACTED_ON_PULL_REQUEST,
  RevertPullRequestPayload: "clientMutationId pullRequest revertPullRequest",
  UpdateRefPayload: "clientMutationId ref",
  UpdateRefsPayload: "clientMutationId",
};

export const UNIONS = {
  RuleParameters: ["CodeScanningParameters", "PullRequestParameters", "RequiredStatusChecksParameters"],
  StatusCheckRollupContext: ["CheckRun", "StatusContext"],
};
