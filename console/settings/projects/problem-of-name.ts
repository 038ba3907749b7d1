import type { Project } from "../../api/schema.d.ts";

/** Why a project cannot have a name beside the `others`, or null. The service would accept the name of another one. */
export function problemOfName(name: string, others: readonly Project[]): string | null {
  const wanted = name.trim().toLowerCase();
  if (wanted === "") return "A project needs a name.";
  return others.some((each) => each.name.toLowerCase() === wanted)
    ? "Another project of this board has this name."
    : null;
}
