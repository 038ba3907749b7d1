import type { PageSummary } from "../api/schema.d.ts";
import { Select } from "../components/select.tsx";
import { depthsOf } from "./use-pages.ts";

interface Props {
  /** The pages that may be chosen, in the order of the tree. */
  readonly pages: readonly PageSummary[];
  readonly value: string | null;
  readonly onChoose: (parentId: string | null) => void;
}

/** The page above a page. */
export function ParentChoice({ pages, value, onChoose }: Props) {
  const depths = depthsOf(pages);
  const indented = ({ id, title }: PageSummary): string => "\u2003".repeat(depths.get(id) ?? 0) + title;
  return (
    <Select
      label="Below"
      value={value ?? ""}
      choices={[["", "(top level)"], ...pages.map((page) => [page.id, indented(page)] as const)]}
      onChoose={(id) => onChoose(id === "" ? null : id)}
    />
  );
}
