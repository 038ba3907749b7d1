/** Roles on a board. Each includes the ones before it. */
export const ROLES = ["viewer", "member", "maintainer"] as const;
export type Role = (typeof ROLES)[number];

export const mayAct = (held: Role, required: Role): boolean => ROLES.indexOf(held) >= ROLES.indexOf(required);
