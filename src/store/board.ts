import type { Flow } from "../flow/flow.ts";
import type { Role } from "../flow/roles.ts";
import type { Priority } from "./cards.ts";
import { rows, type Db } from "./connect.ts";
import { cardLabelsJson, type CardLabel } from "./labels.ts";
import { userJson, type User } from "./users.ts";

export interface BoardTask {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly projectId: string;
  readonly statusId: string;
  readonly priority: Priority;
  readonly assignee: User | null;
  readonly labels: readonly CardLabel[];
}

export interface BoardColumn {
  readonly statusId: string;
  readonly name: string;
  readonly kind: "stage" | "done";
  readonly minRole: Role;
  readonly tasks: readonly BoardTask[];
}

/** A project's columns in flow order, each with its cards in their order. The backlog is no column. */
export async function readBoard(
  db: Db,
  project: { readonly id: string; readonly flow: Flow },
): Promise<BoardColumn[]> {
  const tasks = await rows<BoardTask>(
    db,
    `select c.id, c.number, c.title, c.project_id as "projectId", c.stage_id as "statusId", c.priority,
            case when a.id is null then null else ${userJson("c.workspace_id", "a")} end as assignee, ${cardLabelsJson("c")} as labels
       from cards c left join users a on a.id = c.assignee_id
      where c.project_id = :projectId and c.deleted_at is null
      order by c.stage_id, c.rank`,
    { projectId: project.id },
  );
  return project.flow.stages.flatMap((stage) =>
    stage.kind === "backlog"
      ? []
      : [
          {
            statusId: stage.id,
            name: stage.name,
            kind: stage.kind,
            minRole: stage.minRole,
            tasks: tasks.filter((task) => task.statusId === stage.id),
          },
        ],
  );
}
