import { Link } from "wouter";
import type { Repository } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { shellWord } from "../../text/shell-word.ts";

interface Props {
  readonly repository: Repository;
  /** The targets of the flow that the repository does not have. */
  readonly branchNames: readonly string[];
}

/** Warns about targets of the flow that do not exist in a repository, and says how to create them. */
export function MissingBranches({ repository: { defaultBranch }, branchNames }: Props) {
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
        <Command
          branchName={branchName}
          text={`git push origin ${shellWord(`${defaultBranch}:${branchName}`)}`}
        />
      )}
    </div>
  ));
}

const Command = ({ branchName, text }: { readonly branchName: string; readonly text: string }) => (
  <p className="settings-id">
    <span className="mono">{text}</span>
    <CopyButton kind="quiet" text={text} label="Copy" of={`the command that creates ${branchName}`} />
  </p>
);
