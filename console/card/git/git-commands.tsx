import { useWorkspace } from "../../api/workspace.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { gitHubPages } from "./external-link.tsx";
import "./git-commands.css";

interface Props {
  readonly text: string;
  /** What the command is for, for example `the command that clones acme/web`. */
  readonly of: string;
}

/** A command to copy. */
export const GitCommand = ({ text, of }: Props) => (
  <p className="git-command">
    <code>{text}</code>
    <CopyButton kind="quiet" text={text} label="Copy" of={of} />
  </p>
);

/** How to get a clone of a repository, before commands that need one. */
export function CloneFirst({ fullName }: { readonly fullName: string }) {
  const { session } = useWorkspace();
  return (
    <>
      <p>If you have no clone of {fullName}, run:</p>
      <GitCommand
        text={`git clone ${gitHubPages(session.forgeUrl, fullName).repository}.git`}
        of={`the command that clones ${fullName}`}
      />
      {session.isSandbox && (
        <p>
          Git asks for a username and a password: use a login and its token from <code>sandbox.json</code> in
          the data directory (<code>.trunkline</code> by default).
        </p>
      )}
      <p>In the clone, run:</p>
    </>
  );
}
