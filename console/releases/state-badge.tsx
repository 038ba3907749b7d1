import type { Release } from "../api/schema.d.ts";
import { Badge } from "../components/badge.tsx";

/** In the API, a frozen release has the status `open`. */
export const stateOf = ({ status, frozenAt }: Pick<Release, "status" | "frozenAt">) =>
  status === "completed" ? "completed" : frozenAt === null ? "open" : "frozen";

const TONES = { open: "neutral", frozen: "accent", completed: "success" } as const;

export function StateBadge({ release }: { readonly release: Pick<Release, "status" | "frozenAt"> }) {
  const state = stateOf(release);
  return <Badge tone={TONES[state]}>{state}</Badge>;
}
