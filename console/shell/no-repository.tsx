import { Link } from "wouter";
import { useRepositories } from "../api/reads.ts";
import type { Repository } from "../api/schema.d.ts";
import { useAddress } from "./use-project.ts";

/** The repositories of a project; undefined while they are read. */
export const useRepositoriesOf = (projectId: string): readonly Repository[] | undefined =>
  useRepositories().data?.filter((repository) => repository.projectId === projectId);

/** What a project without repositories lacks, and where that is changed. */
export function NoRepository() {
  const addressOf = useAddress();
  return (
    <>
      This project has no repository. Moves change nothing on GitHub until one is linked in{" "}
      <Link href={addressOf("/settings/repositories")}>Settings, Repositories</Link>.
    </>
  );
}
