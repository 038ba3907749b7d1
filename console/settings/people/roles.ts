import type { Role } from "../../api/session.ts";

/** The roles with what they allow. */
export const ROLES: readonly (readonly [role: Role, allows: string])[] = [
  ["viewer", "reads everything"],
  ["member", "creates and moves cards"],
  ["maintainer", "also changes settings, releases and members"],
];

export const roleName = (role: Role): string => role.charAt(0).toUpperCase() + role.slice(1);

/** For a choice of a role. */
export const ROLE_CHOICES = ROLES.map(([role, allows]) => [role, `${roleName(role)} – ${allows}`] as const);
