import { cardsOf, type Invariant } from "./subject.ts";

const MISSING_PERMISSION =
  /not accessible by integration|without .?workflows.? permission|lacks the permission/i;

// Invariant: I4
/** After repair, when all accounts grant everything, no card is blocked for a missing permission. */
export const grantedPermissionsUnblock: Invariant = async (subject) => {
  const found: string[] = [];
  for (const { api, owner, workspaceId } of subject.world.boards) {
    for (const { number } of await cardsOf(subject, workspaceId)) {
      const { blocked } = await api.readCard(number);
      const lacking = (blocked?.reasons ?? []).filter(
        ({ reason, message }) => reason === "not_permitted" && MISSING_PERMISSION.test(message),
      );
      found.push(...lacking.map(({ message }) => `${owner} card ${number} is still blocked: ${message}`));
    }
  }
  return found;
};
