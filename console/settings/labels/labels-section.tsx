import { useRead } from "../../api/reads.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { ErrorState, Loading } from "../../components/states.tsx";
import { SectionHead } from "../section-head.tsx";
import { useChange } from "../use-change.ts";
import { Features } from "./features.tsx";
import { TagList } from "./tag-list.tsx";
import { cardsOf } from "../../text/counted.ts";
import "./labels.css";

/** The labels and features of the board, which all its projects share. */
export default function LabelsSection() {
  const { board } = useWorkspace();
  const mayEdit = hasRole(board.role, "member");
  return (
    <>
      <SectionHead title="Labels and features" about="All projects of the board share them." />
      <section className="settings-part" aria-labelledby="labels">
        <h2 id="labels">Labels</h2>
        <Labels />
      </section>
      <section className="settings-part" aria-labelledby="features">
        <h2 id="features">Features</h2>
        <Features />
      </section>
      {!mayEdit && <p className="settings-note">Members of the board can create and change them.</p>}
    </>
  );
}

function Labels() {
  const { board, keys } = useWorkspace();
  const list = keys.list("labels");
  const {
    data: labels,
    error,
    refetch,
  } = useRead(keys.counted("labels"), "GET /v1/labels", {}, { all: true });
  const create = useChange("POST /v1/labels", list);
  const change = useChange("PATCH /v1/labels/{labelId}", list);
  const remove = useChange("DELETE /v1/labels/{labelId}", list);
  if (!labels)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the labels" />
    );
  return (
    <TagList
      noun="label"
      tags={labels}
      maxName={50}
      mayEdit={hasRole(board.role, "member")}
      mayDelete={hasRole(board.role, "maintainer")}
      create={{
        ...create,
        run: async ({ name, color }) =>
          (await create.run({ body: { name, color } }, `Label ${name} created`)) !== undefined,
      }}
      change={{
        ...change,
        run: async ({ id, fields: { name, color } }) =>
          (await change.run({ path: { labelId: id }, body: { name, color } }, `Label ${name} saved`)) !==
          undefined,
      }}
      remove={{
        ...remove,
        run: async ({ id, name }) =>
          (await remove.run({ path: { labelId: id } }, `Label ${name} deleted`)) !== undefined,
      }}
      consequence={(count) => (count === 0 ? "No card has it." : `It is removed from ${cardsOf(count)}.`)}
    />
  );
}
