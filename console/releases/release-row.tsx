import { Link } from "wouter";
import type { Release } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Icon } from "../components/icon.tsx";
import { Ago } from "../text/time.tsx";
import { Progress } from "./progress.tsx";
import { useRelease } from "./reads.ts";
import { StateBadge } from "./state-badge.tsx";
import { cardsOf } from "../text/counted.ts";

interface Props {
  readonly release: Release;
  readonly doneStages: ReadonlySet<string>;
}

/** A release in the list: its state, branches, cards, and how many of them are done. */
export function ReleaseRow({ release, doneStages }: Props) {
  const { base } = useWorkspace();
  const { id, name, status, taskCount, missingCount, tags, createdAt, completedAt, createdByName } = release;
  const isOpen = status === "open";
  const { data: details } = useRelease(id, isOpen);
  const branches = [...new Set(details?.repositories.flatMap(({ branchName }) => branchName ?? []))];
  const done = details?.cards.filter(({ statusId }) => statusId !== null && doneStages.has(statusId)).length;
  return (
    <li className="release-row">
      <div className="release-row-head">
        <Link
          href={`${base}/releases/${id}${window.location.search}`}
          className="release-row-name"
          dir="auto"
        >
          {name}
        </Link>
        <StateBadge release={release} />
      </div>
      <p className="release-row-facts">
        {branches.map((branch) => (
          <span key={branch} className="release-ref mono">
            <Icon name="branch" />
            {branch}
          </span>
        ))}
        {[...new Set(tags.map(({ tagName }) => tagName))].map((tagName) => (
          <span key={tagName} className="release-ref mono">
            <Icon name="tag" />
            {tagName}
          </span>
        ))}
        {completedAt === null ? (
          <span>
            created by <bdi>{createdByName}</bdi> <Ago at={createdAt} />
          </span>
        ) : (
          <span>
            completed <Ago at={completedAt} />
          </span>
        )}
      </p>
      {isOpen && taskCount > 0 && done !== undefined ? (
        <Progress label={`Progress of ${name}`} value={done} total={taskCount} state="done" />
      ) : (
        <p className="release-row-count">
          {missingCount === 0 ? cardsOf(taskCount) : `${taskCount - missingCount} of ${cardsOf(taskCount)}`}
        </p>
      )}
    </li>
  );
}
