/** What a member of a board may do; each includes the ones before it. */
export const ROLES = ["viewer", "member", "maintainer"] as const;
export type Role = (typeof ROLES)[number];

/** Whether `held` is enough where `required` is asked. */
export const mayAct = (held: Role, required: Role): boolean => ROLES.indexOf(held) >= ROLES.indexOf(required);
