import { Link } from "wouter";
import type { Repository } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { CloneFirst, GitCommand } from "../../card/git/git-commands.tsx";
import { Badge } from "../../components/badge.tsx";
import { shellWord } from "../../text/shell-word.ts";

interface Props {
  readonly repository: Repository;
  /** The targets of the flow that the repository does not have. */
  readonly branchNames: readonly string[];
}

/** Warns about targets of the flow that do not exist in a repository, and says how to create them. */
export function MissingBranches({ repository: { fullName, defaultBranch }, branchNames }: Props) {
  const { base } = useWorkspace();
  return branchNames.map((branchName) => (
    <div key={branchName} className="repository-trouble">
      <Badge tone="warning">Target branch missing</Badge>
      <p>
        The flow merges into <span className="mono">{branchName}</span>, which does not exist in this
        repository. Moves that need the branch are refused. Create it, or change the target in{" "}
        <Link href={`${base}/settings/flow${window.location.search}`}>Settings, Flow</Link>.
      </p>
      {branchName === defaultBranch ? (
        <p>It is the default branch. The first push to the repository creates it.</p>
      ) : (
        <>
          <CloneFirst fullName={fullName} />
          <GitCommand
            text={`git push origin ${shellWord(`${defaultBranch}:${branchName}`)}`}
            of={`the command that creates ${branchName}`}
          />
        </>
      )}
    </div>
  ));
}
