import { lazy, type ComponentType, type LazyExoticComponent } from "react";

export interface Section {
  readonly title: string;
  /** After `/settings/`. */
  readonly path: string;
  readonly group: "Project" | "Board";
  readonly Screen: LazyExoticComponent<ComponentType>;
}

/** The parts of the settings, in the order of their list. */
export const SECTIONS: readonly Section[] = [
  { title: "Flow", path: "flow", group: "Project", Screen: lazy(() => import("./flow/flow-section.tsx")) },
  {
    title: "Repositories",
    path: "repositories",
    group: "Project",
    Screen: lazy(() => import("./repositories/repositories-section.tsx")),
  },
  {
    title: "Projects",
    path: "projects",
    group: "Board",
    Screen: lazy(() => import("./projects/projects-section.tsx")),
  },
  {
    title: "Labels and features",
    path: "labels",
    group: "Board",
    Screen: lazy(() => import("./labels/labels-section.tsx")),
  },
  {
    title: "Monitors",
    path: "monitors",
    group: "Board",
    Screen: lazy(() => import("./monitors/monitors-section.tsx")),
  },
  {
    title: "Members",
    path: "members",
    group: "Board",
    Screen: lazy(() => import("./people/members-section.tsx")),
  },
  {
    title: "API keys",
    path: "keys",
    group: "Board",
    Screen: lazy(() => import("./people/keys-section.tsx")),
  },
  {
    title: "Agents",
    path: "agents",
    group: "Board",
    Screen: lazy(() => import("./people/agents-section.tsx")),
  },
  {
    title: "Webhooks",
    path: "webhooks",
    group: "Board",
    Screen: lazy(() => import("./webhooks/webhooks-section.tsx")),
  },
  {
    title: "Audit log",
    path: "audit",
    group: "Board",
    Screen: lazy(() => import("./audit/audit-section.tsx")),
  },
];
