import type { Role } from "../../api/session.ts";

/** The roles with what they allow. */
export const ROLES: readonly (readonly [role: Role, allows: string])[] = [
  ["viewer", "reads everything"],
  ["member", "creates and moves cards, and plans releases"],
  ["maintainer", "also changes settings and members, and completes releases"],
];

export const roleName = (role: Role): string => role.charAt(0).toUpperCase() + role.slice(1);

/** For a choice of a role. */
export const ROLE_CHOICES = ROLES.map(([role]) => [role, roleName(role)] as const);

/** What a role allows, as a sentence. */
export function allowsOf(role: Role): string {
  const allows = ROLES.find(([each]) => each === role)?.[1] ?? "";
  return `${allows.charAt(0).toUpperCase()}${allows.slice(1)}.`;
}
