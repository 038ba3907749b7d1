import type { ReactNode } from "react";
import type { TimelineEvent } from "../../api/schema.d.ts";
import { counted } from "../../text/counted.ts";
import { ExternalLink, gitHubPages, shortSha } from "../git/external-link.tsx";

/** What the words of events need: the names of stages, and where GitHub is. */
export interface Names {
  readonly stage: (statusId: string) => string;
  readonly forgeUrl: string;
}

interface Props {
  readonly event: TimelineEvent;
  readonly names: Names;
}

/** An event as the rest of a sentence that begins with its actor. */
export function EventWords({ event, names }: Props): ReactNode {
  const { kind, data } = event;
  const pages = gitHubPages(names.forgeUrl, event.repositoryFullName ?? "");
  const pull = (number: number) => (
    <ExternalLink href={pages.pull(number)}>pull request #{number}</ExternalLink>
  );
  const commit = (sha: string) => (
    <ExternalLink href={pages.commit(sha)} className="mono">
      {shortSha(sha)}
    </ExternalLink>
  );
  // GitHub names the App for what Trunkline did, and the actor is who moved the card.
  const through = event.actor.login === null && " through Trunkline";
  switch (kind) {
    case "created":
      return "created the card";
    case "updated":
      return <>changed {listOf(data.fields.map((field) => FIELDS[field] ?? field))}</>;
    case "status_changed":
      return (
        <>
          moved the card from <b>{names.stage(data.from)}</b> to <b>{names.stage(data.to)}</b>
        </>
      );
    case "branch_created":
      return (
        <>
          created the branch <Branch name={data.branchName} /> at {commit(data.sha)}
        </>
      );
    case "branch_adopted":
      return (
        <>
          made <Branch name={data.branchName} /> the card&apos;s branch
          {data.prNumber !== null && <>, with {pull(data.prNumber)}</>}
        </>
      );
    case "branch_deleted":
      return (
        <>
          deleted the branch <Branch name={data.branchName} />
        </>
      );
    case "pushed":
      return <Push data={data} commit={commit} />;
    case "pull_request_opened":
      return (
        <>
          opened the {data.isDraft ? "draft " : ""}
          {pull(data.prNumber)} into <Branch name={data.targetBranch} />
          {through}
        </>
      );
    case "pull_request_ready":
      return (
        <>
          marked {pull(data.prNumber)} as ready for review{through}
        </>
      );
    case "pull_request_closed":
      return <>closed {pull(data.prNumber)} without merging it</>;
    case "pull_request_reopened":
      return <>reopened {pull(data.prNumber)}</>;
    case "pull_request_merged":
      return (
        <>
          merged {pull(data.prNumber)} into <Branch name={data.targetBranch} />
          {through}
        </>
      );
    case "rules_bypassed":
      return (
        <>
          bypassed the rules {data.rules.join(", ")} of <Branch name={data.targetBranch} /> to merge{" "}
          {pull(data.prNumber)}
        </>
      );
    case "promotion_refused":
      return (
        <>
          tried to move the card to <b>{names.stage(data.statusId)}</b>. It was refused:{" "}
          <q className="event-words" dir="auto">
            {data.message}
          </q>
        </>
      );
    case "refusal_withdrawn":
      return (
        <>
          withdrew the refused move to <b>{names.stage(data.statusId)}</b>
        </>
      );
    case "checks_changed":
      return (
        <>
          reported checks on {commit(data.sha)}: {data.from ?? "none"} → <b>{data.to ?? "none"}</b>
        </>
      );
    case "review_submitted":
      return (
        <>
          {REVIEWS[data.state]} {pull(data.prNumber)}
        </>
      );
    case "repository_linked":
      return "linked the repository";
    case "repository_unlinked":
      return "removed the repository from the card";
    case "backmerge_opened":
      return (
        <>
          opened {pull(data.prNumber)}, a back-merge into <Branch name={data.targetBranch} />
        </>
      );
    case "release_added":
      return (
        <>
          added the card to the release <bdi>{data.releaseName}</bdi>
        </>
      );
    case "release_picked":
      return (
        <>
          picked {counted(data.commits.length, "commit")} for the release <bdi>{data.releaseName}</bdi>
        </>
      );
    case "release_completed":
      return (
        <>
          completed the release <bdi>{data.releaseName}</bdi>
          {data.tags.length > 0 && <> with {listOf(data.tags.map(({ tagName }) => tagName))}</>}
        </>
      );
    case "proposal_opened":
      return (
        <>
          proposed {pull(data.prNumber)} from <Branch name={data.headBranch} />
        </>
      );
    case "proposal_accepted":
      return <>merged the proposal {pull(data.prNumber)}</>;
    case "agent_gave_up":
      return (
        <>
          gave up
          {data.reason !== null && (
            <>
              : <q dir="auto">{data.reason}</q>
            </>
          )}
        </>
      );
    case "claimed":
      return data.generation > 1 ? "took over the claim of the card" : "claimed the card";
    case "claim_released":
      return (
        <>
          released the claim
          {data.outcome !== null && (
            <>
              : <q dir="auto">{data.outcome}</q>
            </>
          )}
        </>
      );
    case "claim_expired":
      return "lost the claim, which expired";
    case "armed":
      return (
        <>
          asked to move the card to <b>{names.stage(data.statusId)}</b> when it is ready
        </>
      );
    case "disarmed":
      return (
        <>
          ended the waiting move to <b>{names.stage(data.statusId)}</b>:{" "}
          <q className="event-words" dir="auto">
            {data.message}
          </q>
        </>
      );
    default:
      return otherKind(kind);
  }
}

/** A kind that a newer service has. */
const otherKind = (kind: string): string => kind.replaceAll("_", " ");

const Branch = ({ name }: { readonly name: string }) => <code className="event-branch">{name}</code>;

type PushData = Extract<TimelineEvent, { kind: "pushed" }>["data"];

const Push = ({ data, commit }: { data: PushData; commit: (sha: string) => ReactNode }) => (
  <>
    {data.forced ? "force-pushed" : "pushed"}{" "}
    {data.commits.length > 0 ? counted(data.commits.length, "commit") : commit(data.after)} to{" "}
    <Branch name={data.branchName} />
    {data.commits.length > 0 && (
      <ul className="event-commits">
        {data.commits.slice(-SHOWN_COMMITS).map(({ sha, title }) => (
          <li key={sha}>
            {commit(sha)} <span dir="auto">{title}</span>
          </li>
        ))}
      </ul>
    )}
  </>
);

/** The newest commits of a push are named. */
const SHOWN_COMMITS = 5;

const FIELDS: Readonly<Record<string, string>> = {
  title: "the title",
  description: "the description",
  priority: "the priority",
  assigneeId: "the assignee",
  labelIds: "the labels",
  featureId: "the feature",
  docIds: "the pages",
  dueDate: "the due date",
  parentNumber: "the parent",
  repositoryIds: "the repositories",
};

const REVIEWS = {
  approved: "approved",
  changes_requested: "requested changes in",
  commented: "reviewed",
  dismissed: "dismissed a review of",
  pending: "began a review of",
} as const;

const listOf = (words: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "conjunction" }).format(words);
