import type { BoardTask, Flow } from "../api/schema.d.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Menu, MenuGroup, MenuItem } from "../components/menu.tsx";
import { isRefused, reasonsOf, stepText, usePlans, type Preview } from "./moves/plan.ts";

export interface MenuProps {
  readonly task: Pick<BoardTask, "number" | "statusId">;
  readonly stages: Flow["stages"];
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Moves the card to the top of a stage. */
  readonly onMove: (statusId: string) => void;
  /** Moves the card within its column. */
  readonly onReorder: (to: Reorder) => void;
}

export type Reorder = "top" | "up" | "down" | "bottom";

/** The menu of a card: what can be done by dragging, and what each move would do. */
export function MoveMenu({ open, onOpenChange, ...rest }: MenuProps) {
  return (
    <Menu
      align="end"
      open={open}
      onOpenChange={onOpenChange}
      trigger={
        <Button
          kind="quiet"
          className="card-menu"
          aria-label={`Move card ${rest.task.number}`}
          title="Move … (m)"
          tabIndex={-1}
        >
          <Icon name="more" />
        </Button>
      }
    >
      <MoveItems {...rest} />
    </Menu>
  );
}

function MoveItems({ task, stages, onMove, onReorder }: Omit<MenuProps, "open" | "onOpenChange">) {
  const others = stages.filter(({ id }) => id !== task.statusId);
  const isDraft = stages.some(({ id, kind }) => id === task.statusId && kind === "backlog");
  const plans = usePlans(
    task.number,
    others.map(({ id }) => id),
  );
  return (
    <>
      <MenuGroup label={`Move #${task.number} to`}>
        {others.map(({ id, name }) => {
          const { plan } = plans.get(id) ?? { plan: undefined };
          const unavailable = plan && isRefused(plan) ? reasonsOf(plan).join(" ") : undefined;
          return (
            <MenuItem key={id} onSelect={() => onMove(id)} unavailable={unavailable}>
              <bdi>{name}</bdi>
              <PlanHint preview={plans.get(id)} />
            </MenuItem>
          );
        })}
      </MenuGroup>
      <MenuGroup label={isDraft ? "In the backlog" : "In this column"}>
        {ORDERS.map(([to, text]) => (
          <MenuItem key={to} onSelect={() => onReorder(to)}>
            {text}
          </MenuItem>
        ))}
      </MenuGroup>
    </>
  );
}

const ORDERS: readonly (readonly [Reorder, string])[] = [
  ["top", "To the top"],
  ["up", "Up"],
  ["down", "Down"],
  ["bottom", "To the bottom"],
];

const PlanHint = ({ preview }: { readonly preview: Preview | undefined }) => {
  const steps = preview?.plan?.steps ?? [];
  if (!preview?.plan || steps.length === 0 || isRefused(preview.plan)) return null;
  return <span className="menu-reason">{steps.map(stepText).join(", then ")}</span>;
};
