import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CardSnapshot } from "../api/reads.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Confirm } from "../components/dialog/confirm.tsx";
import { useToast } from "../components/toast.tsx";

interface Props {
  readonly card: CardSnapshot;
  readonly onDeleted: () => void;
}

/** Deletes a card after it has said what is lost and what stays on GitHub. */
export function DeleteCard({ card, onDeleted }: Props) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const [isAsking, setIsAsking] = useState(false);
  const [isClosing, setIsClosing] = useState(false);
  const { mutateAsync, isPending, error, reset } = useWrite("DELETE /v1/cards/{number}");
  const { number, projectId } = card;
  const open = card.repositories.filter(isOpen);
  const close = (): void => {
    reset();
    setIsAsking(false);
  };
  const remove = async (): Promise<void> => {
    try {
      await mutateAsync({ path: { number }, ...(isClosing && { query: { closePullRequests: "true" } }) });
    } catch {
      return; // The dialog shows it.
    }
    toast({ title: `Card #${number} deleted` });
    onDeleted();
    void queries.invalidateQueries({ queryKey: keys.boards });
    void queries.invalidateQueries({ queryKey: keys.backlog(projectId) });
  };
  return (
    <>
      <Button kind="quiet" className="card-delete" onClick={() => setIsAsking(true)}>
        Delete card
      </Button>
      <Confirm
        open={isAsking}
        title={`Delete card #${number}?`}
        action="Delete the card"
        isBusy={isPending}
        error={error}
        onCancel={close}
        onConfirm={() => void remove()}
      >
        <p>
          Its text, comments and timeline are lost, and its number is not used again.
          {hasBranch(card) && " Its branches and pull requests stay on GitHub."}
        </p>
        {open.length > 0 && (
          <label>
            <input
              type="checkbox"
              checked={isClosing}
              onChange={({ target }) => setIsClosing(target.checked)}
            />{" "}
            Close {namesOf(open)} on GitHub
          </label>
        )}
      </Confirm>
    </>
  );
}

const isOpen = ({ prState }: CardSnapshot["repositories"][number]): boolean =>
  prState === "draft" || prState === "open";

/** Such as `pull request #3 in acme/web and #5 in acme/api`. */
const namesOf = (open: CardSnapshot["repositories"]): string =>
  `pull request ${open.map(({ prNumber, fullName }) => `#${prNumber} in ${fullName}`).join(" and ")}`;

const hasBranch = ({ repositories }: CardSnapshot): boolean =>
  repositories.some(({ branchName }) => branchName !== null);
