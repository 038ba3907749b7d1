import { useState } from "react";
import type { Project, Repository } from "../../api/schema.d.ts";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { useSetRepositories } from "./use-set-repositories.ts";

interface Props {
  readonly repository: Repository;
  /** The project that gets the repository. */
  readonly project: Project;
  /** The project that has it. */
  readonly holder: Project | undefined;
  readonly change: ReturnType<typeof useSetRepositories>;
}

/** Links a repository that is free, or moves it from another project after a question. */
export function Take({ repository: { id, fullName, projectId }, project, holder, change }: Props) {
  /** The project from which the user is asked to move it. */
  const [from, setFrom] = useState<Project | null>(null);
  const source = useSetRepositories(from?.id ?? project.id);
  const close = (): void => {
    source.reset();
    change.reset();
    setFrom(null);
  };
  const link = (): Promise<boolean> =>
    change.set((linked) => {
      const others = linked.filter((each) => each.id !== id);
      return [...others, { id, linkByDefault: others.length === 0 }];
    }, `${fullName} linked`);
  // Both calls can be repeated: a repetition of one that has happened changes nothing.
  const move = async (): Promise<void> => {
    const without = source.set((linked) => linked.filter((each) => each.id !== id), null);
    if ((await without) && (await link())) close();
  };
  return (
    <>
      {holder && (
        <Button aria-label={`Move to ${project.name}: ${fullName}`} onClick={() => setFrom(holder)}>
          <span>
            Move to <bdi>{project.name}</bdi>
          </span>
        </Button>
      )}
      {projectId === null && (
        <Button isBusy={change.isBusy} aria-label={`Link ${fullName}`} onClick={() => void link()}>
          Link
        </Button>
      )}
      <Confirm
        open={from !== null}
        title={`Move ${fullName} to ${project.name}?`}
        action={projectId === null ? "Link the repository" : "Move the repository"}
        isBusy={source.isBusy || change.isBusy}
        error={from && (source.error ?? change.error)}
        onCancel={close}
        onConfirm={() => void move()}
      >
        {projectId === null ? (
          <p>
            It is unlinked from {from?.name}, but not linked to {project.name} yet. Try again here, or close
            this and choose Link beside the repository.
          </p>
        ) : (
          <p>
            The project {from?.name} loses the repository. Its cards are unlinked from it, except cards whose
            work was merged there. Branches on GitHub stay as they are.
          </p>
        )}
      </Confirm>
    </>
  );
}
