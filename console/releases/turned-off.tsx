import { Link } from "wouter";
import { useAddress } from "../shell/use-project.ts";

/** Says that the flow of the project works without releases, and where that is changed. */
export function TurnedOff() {
  const addressOf = useAddress();
  return (
    <p className="release-note">
      Releases are turned off in this project.{" "}
      <Link href={addressOf("/settings/flow")}>Turn them on in its flow</Link>.
    </p>
  );
}
