import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { ReleaseDetails } from "../api/schema.d.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Loading } from "../components/states.tsx";
import { useToast } from "../components/toast.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { CardWarning, unmergedIn } from "./card-warning.tsx";
import { Problem } from "./problem.tsx";
import { useReleasePreview } from "./reads.ts";
import { useAddress } from "../shell/use-project.ts";

interface Props {
  readonly release: ReleaseDetails;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Reads the releases again, says what was done, and closes the dialog. */
export function useDone(onClose: () => void) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  return async (title: string): Promise<void> => {
    await queries.invalidateQueries({ queryKey: keys.list("releases") });
    toast({ title });
    onClose();
  };
}

/** Asks before a freeze and lists the branches that it creates. */
export function FreezeDialog({ release, open, onClose }: Props) {
  const { id, name } = release;
  const done = useDone(onClose);
  const freeze = useWrite("POST /v1/releases/{id}/freeze");
  const { data: preview, error } = useReleasePreview(id, open);
  const existing = new Set(
    release.repositories.flatMap(({ repositoryId, branchName }) => (branchName === null ? [] : repositoryId)),
  );
  const missing = preview?.repositories.filter(({ repositoryId }) => !existing.has(repositoryId));
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Freeze ${name}?`}
      confirm={release.cards.length === 0 ? "Freeze the empty release" : "Freeze"}
      isBusy={freeze.isPending}
      isDisabled={!preview}
      error={freeze.error}
      onConfirm={() =>
        freeze.mutate({ path: { id } }, { onSuccess: () => void done(`The release ${name} is frozen`) })
      }
    >
      {release.cards.length === 0 && (
        <p className="release-warning">The release is empty: no card has been added to it.</p>
      )}
      <p>
        The cards of the release are fixed. The release branches contain what is merged now, and later merges
        do not change them. A further card, such as a fix, is added by picking its merged commits. You can
        unfreeze the release as long as nothing was picked or pushed onto its branches.
      </p>
      <CardWarning label="Cards without their work" cards={unmergedIn(release, preview)}>
        The work of these cards is not merged yet. It will not be in the release unless you pick each card
        after its merge:
      </CardWarning>
      <CardWarning label="Cards outside the release" cards={preview?.cardsOutside ?? []}>
        These cards are not in the release, but their work is merged, so the release branches contain it. Add
        them to the release if its notes should name them:
      </CardWarning>
      <Problem error={error} />
      {missing ? (
        <>
          <p>{missing.length === 0 ? "No branch is created." : "These branches are created:"}</p>
          <ul className="release-plan">
            {missing.map(({ repositoryId, fullName, freeze: { branchName, startsFrom } }) => (
              <li key={repositoryId}>
                <span className="mono">{branchName}</span> from <span className="mono">{startsFrom}</span> in{" "}
                <span className="mono">{fullName}</span>
              </li>
            ))}
          </ul>
        </>
      ) : (
        !error && <Loading what="the branches" />
      )}
    </ConfirmDialog>
  );
}

/** Asks before a freeze is undone and lists the branches that it deletes. */
export function UnfreezeDialog({ release, open, onClose }: Props) {
  const { id, name, repositories } = release;
  const done = useDone(onClose);
  const unfreeze = useWrite("DELETE /v1/releases/{id}/freeze");
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Unfreeze ${name}?`}
      confirm="Unfreeze"
      kind="danger"
      isBusy={unfreeze.isPending}
      error={unfreeze.error}
      onConfirm={() =>
        unfreeze.mutate({ path: { id } }, { onSuccess: () => void done(`The release ${name} is open again`) })
      }
    >
      <p>
        The release branches are deleted, and the cards can be changed again. If commits were pushed onto one
        of the branches, nothing changes.
      </p>
      <ul className="release-plan">
        {repositories.map(
          ({ repositoryId, fullName, branchName }) =>
            branchName !== null && (
              <li key={repositoryId}>
                <span className="mono">{branchName}</span> in <span className="mono">{fullName}</span>
              </li>
            ),
        )}
      </ul>
    </ConfirmDialog>
  );
}

/** Asks before a release is deleted. */
export function DeleteDialog({ release, open, onClose }: Props) {
  const addressOf = useAddress();
  const { id, name } = release;
  const [, navigate] = useLocation();
  const done = useDone(onClose);
  const remove = useWrite("DELETE /v1/releases/{id}");
  const onSuccess = async (): Promise<void> => {
    navigate(addressOf("/releases"));
    await done(`The release ${name} was deleted`);
  };
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Delete ${name}?`}
      confirm="Delete"
      kind="danger"
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ path: { id } }, { onSuccess: () => void onSuccess() })}
    >
      <p>
        The release is deleted. Its cards stay where they are
        {release.frozenAt !== null && ", and so do its branches and tags on GitHub"}.
      </p>
    </ConfirmDialog>
  );
}
