import { Link } from "wouter";
import { useWorkspace } from "../api/workspace.tsx";

/** Says that the flow of the project works without releases, and where that is changed. */
export function TurnedOff() {
  const { base } = useWorkspace();
  const { search } = window.location;
  return (
    <p className="release-note">
      Releases are turned off in this project.{" "}
      <Link href={`${base}/settings/flow${search}`}>Turn them on in its flow</Link>.
    </p>
  );
}
