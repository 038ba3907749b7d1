import { lazy, type ComponentType, type LazyExoticComponent } from "react";

/** What a section is about. */
export const GROUPS = ["This project", "All projects"] as const;

export interface Section {
  readonly title: string;
  /** After `/settings/`. */
  readonly path: string;
  readonly group: (typeof GROUPS)[number];
  readonly Screen: LazyExoticComponent<ComponentType>;
}

/** The parts of the settings, in the order of their list. */
export const SECTIONS: readonly Section[] = [
  {
    title: "Flow",
    path: "flow",
    group: "This project",
    Screen: lazy(() => import("./flow/flow-section.tsx")),
  },
  {
    title: "Repositories",
    path: "repositories",
    group: "This project",
    Screen: lazy(() => import("./repositories/repositories-section.tsx")),
  },
  {
    title: "Projects",
    path: "projects",
    group: "All projects",
    Screen: lazy(() => import("./projects/projects-section.tsx")),
  },
  {
    title: "Labels and features",
    path: "labels",
    group: "All projects",
    Screen: lazy(() => import("./labels/labels-section.tsx")),
  },
  {
    title: "Monitors",
    path: "monitors",
    group: "All projects",
    Screen: lazy(() => import("./monitors/monitors-section.tsx")),
  },
  {
    title: "Members",
    path: "members",
    group: "All projects",
    Screen: lazy(() => import("./people/members-section.tsx")),
  },
  {
    title: "API keys",
    path: "keys",
    group: "All projects",
    Screen: lazy(() => import("./people/keys-section.tsx")),
  },
  {
    title: "Agents",
    path: "agents",
    group: "All projects",
    Screen: lazy(() => import("./people/agents-section.tsx")),
  },
  {
    title: "Webhooks",
    path: "webhooks",
    group: "All projects",
    Screen: lazy(() => import("./webhooks/webhooks-section.tsx")),
  },
  {
    title: "Audit log",
    path: "audit",
    group: "All projects",
    Screen: lazy(() => import("./audit/audit-section.tsx")),
  },
];
