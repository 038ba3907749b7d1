import { useWorkspace } from "../../api/workspace.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { shellWord } from "../../text/shell-word.ts";
import { gitHubPages } from "./external-link.tsx";

interface Props {
  readonly fullName: string;
  readonly branchName: string;
}

/** How to get the branch with Git. */
export function Checkout({ fullName, branchName }: Props) {
  const { session } = useWorkspace();
  const branch = shellWord(branchName);
  const command = `git fetch origin ${branch} && git switch ${branch}`;
  const clone = `git clone ${gitHubPages(session.forgeUrl, fullName).repository}.git`;
  return (
    <details className="checkout">
      <summary>Check out with Git</summary>
      <p>If you have no clone of {fullName}, run:</p>
      <p className="checkout-line">
        <code data-testid="clone">{clone}</code>
        <CopyButton kind="quiet" text={clone} label="Copy" of={`the command that clones ${fullName}`} />
      </p>
      {session.isSandbox && (
        <p>
          Git asks for a username and a password: use a login and its token from <code>sandbox.json</code> in
          the data directory (<code>.trunkline</code> by default).
        </p>
      )}
      <p>In the clone, run:</p>
      <p className="checkout-line">
        <code data-testid="checkout">{command}</code>
        <CopyButton kind="quiet" text={command} label="Copy" of={`the command for ${fullName}`} />
      </p>
    </details>
  );
}
