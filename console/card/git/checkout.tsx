import { shellWord } from "../../text/shell-word.ts";
import { CloneFirst, GitCommand } from "./git-commands.tsx";

interface Props {
  readonly fullName: string;
  readonly branchName: string;
}

/** How to get the branch with Git. */
export function Checkout({ fullName, branchName }: Props) {
  const branch = shellWord(branchName);
  return (
    <details className="checkout">
      <summary>Check out with Git</summary>
      <CloneFirst fullName={fullName} />
      <GitCommand
        text={`git fetch origin ${branch} && git switch ${branch}`}
        of={`the command for ${fullName}`}
      />
    </details>
  );
}
