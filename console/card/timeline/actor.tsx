import type { Actor } from "../../api/schema.d.ts";
import { Badge } from "../../components/badge.tsx";

export const nameOf = ({ login, user }: Actor): string => login ?? user.name;

/** Who did it: the login if GitHub reported it, otherwise the name in Trunkline. */
export const ActorName = ({ actor }: { readonly actor: Actor }) => (
  <span className="actor">
    <bdi>{nameOf(actor)}</bdi>
    {actor.user.kind !== "human" && <Badge>{actor.user.kind}</Badge>}
  </span>
);
