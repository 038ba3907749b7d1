import { useRead } from "../../api/reads.ts";
import type { Feature } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { ErrorState, Loading } from "../../components/states.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { TagList } from "./tag-list.tsx";
import { cardsOf } from "../../text/counted.ts";

/** The features of the board, also archived ones. */
export function Features() {
  const { board, keys } = useWorkspace();
  const list = keys.list("features");
  const query = { archived: "1" } as const;
  const {
    data: features,
    error,
    refetch,
  } = useRead(keys.counted("features"), "GET /v1/features", { query }, { all: true });
  const create = useChange("POST /v1/features", list);
  const change = useChange("PATCH /v1/features/{featureId}", list);
  const place = useChange("PATCH /v1/features/{featureId}", list);
  const remove = useChange("DELETE /v1/features/{featureId}", list);
  const mayEdit = hasRole(board.role, "member");
  if (!features)
    return error ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the features" />
    );
  return (
    <>
      <Problem error={place.error} />
      <TagList
        noun="feature"
        tags={features}
        maxName={60}
        hasDescription
        mayEdit={mayEdit}
        mayDelete={hasRole(board.role, "maintainer")}
        create={{
          ...create,
          run: async (body) => (await create.run({ body }, `Feature ${body.name} created`)) !== undefined,
        }}
        change={{
          ...change,
          run: async ({ id, fields }) =>
            (await change.run({ path: { featureId: id }, body: fields }, `Feature ${fields.name} saved`)) !==
            undefined,
        }}
        remove={{
          ...remove,
          run: async ({ id, name }) =>
            (await remove.run({ path: { featureId: id } }, `Feature ${name} deleted`)) !== undefined,
        }}
        consequence={(count) =>
          count === 0
            ? "No card belongs to it."
            : `${cardsOf(count)} ${count === 1 ? "remains" : "remain"}, without a feature.`
        }
        note={(feature) => <Note feature={feature} />}
        actions={(feature, at) => mayEdit && <Places feature={feature} at={at} onChange={place.run} />}
      />
    </>
  );
}

const Note = ({ feature: { description, doneCount, archived } }: { readonly feature: Feature }) => (
  <>
    {doneCount > 0 && <span className="settings-faint">, {doneCount} done</span>}{" "}
    {archived && <Badge>archived</Badge>}
    {description !== "" && <p dir="auto">{description}</p>}
  </>
);

interface PlacesProps {
  readonly feature: Feature;
  readonly at: number;
  readonly onChange: ReturnType<typeof useChange<"PATCH /v1/features/{featureId}">>["run"];
}

function Places({ feature: { id, name, archived }, at, onChange }: PlacesProps) {
  const set = (body: { archived?: boolean; position?: number }, done: string): void =>
    void onChange({ path: { featureId: id }, body }, done);
  return (
    <>
      {!archived && at > 0 && (
        <Button
          kind="quiet"
          aria-label={`Move ${name} up`}
          onClick={() => set({ position: at - 1 }, `${name} moved up`)}
        >
          <Icon name="up" />
        </Button>
      )}
      <Button
        kind="quiet"
        onClick={() => set({ archived: !archived }, archived ? `${name} restored` : `${name} archived`)}
      >
        {archived ? "Restore" : "Archive"}
      </Button>
    </>
  );
}
