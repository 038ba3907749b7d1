import type { Attempt } from "../../api/schema.d.ts";
import { cardsOf } from "../../text/counted.ts";

/**
 * What a call does: the verb, its past form, and the rest of the sentence. `{card}` and `{the <noun>}` stand for what
 * it concerned, `{to}` for the stage or role after it. A part in brackets is left out if that is not known.
 */
type Sentence = readonly [verb: string, past: string, rest: string];

/** A sentence for each route that writes, by its method and path. */
export const SENTENCES: Readonly<Record<string, Sentence>> = {
  // On the log of a board only if the sign-in accepted an invitation.
  "GET /console/callback": ["sign in and join", "signed in and joined", "the board"],
  "POST /v1/cards": ["create", "created", "{card}[ in {to}]"],
  "PATCH /v1/cards/{number}": ["change", "changed", "{card}"],
  "DELETE /v1/cards/{number}": ["delete", "deleted", "{card}"],
  "POST /v1/cards/{number}/move": ["move", "moved", "{card}[ to {to}]"],
  "DELETE /v1/cards/{number}/blocked": ["withdraw", "withdrew", "the refused move of {card}[ to {to}]"],
  "DELETE /v1/cards/{number}/armed": ["cancel", "cancelled", "the waiting move of {card}[ to {to}]"],
  "PUT /v1/cards/{number}/repositories/{repositoryId}": ["give", "gave", "{card} a branch"],
  "DELETE /v1/cards/{number}/repositories/{repositoryId}": ["unlink", "unlinked", "{card} from a repository"],
  "POST /v1/cards/{number}/comments": ["comment", "commented", "on {card}"],
  "PATCH /v1/cards/{number}/comments/{commentId}": ["edit", "edited", "a comment on {card}"],
  "POST /v1/cards/{number}/claim": ["claim", "claimed", "{card}"],
  "DELETE /v1/cards/{number}/claim": ["release", "released", "{card}"],
  "POST /v1/claims/next": ["claim", "claimed", "{card} as the next one"],
  "POST /console/v1/cards/{number}/approve": ["approve", "approved", "an agent's proposal for {card}"],
  "POST /v1/labels": ["create", "created", "{the label}"],
  "PATCH /v1/labels/{labelId}": ["change", "changed", "{the label}"],
  "DELETE /v1/labels/{labelId}": ["delete", "deleted", "{the label}"],
  "POST /v1/features": ["create", "created", "{the feature}"],
  "PATCH /v1/features/{featureId}": ["change", "changed", "{the feature}"],
  "DELETE /v1/features/{featureId}": ["delete", "deleted", "{the feature}"],
  "POST /v1/projects": ["create", "created", "{the project}"],
  "PATCH /v1/projects/{projectId}": ["change", "changed", "{the project}"],
  "DELETE /v1/projects/{projectId}": ["delete", "deleted", "{the project}"],
  "PUT /v1/projects/{projectId}/flow": ["change", "changed", "the flow of {the project}"],
  "PUT /v1/projects/{projectId}/repositories": ["change", "changed", "the repositories of {the project}"],
  "POST /v1/docs": ["create", "created", "{the page}"],
  "PATCH /v1/docs/{docId}": ["change", "changed", "{the page}"],
  "DELETE /v1/docs/{docId}": ["delete", "deleted", "{the page}"],
  "POST /v1/releases": ["create", "created", "{the release}"],
  "PUT /v1/releases/{id}/cards": ["change", "changed", "the cards of {the release}"],
  "DELETE /v1/releases/{id}": ["delete", "deleted", "{the release}"],
  "POST /v1/releases/{id}/freeze": ["freeze", "froze", "{the release}"],
  "DELETE /v1/releases/{id}/freeze": ["unfreeze", "unfroze", "{the release}"],
  "POST /v1/releases/{id}/pick": ["pick", "picked", "{card} into {the release}"],
  "POST /v1/releases/{id}/promote": ["promote", "promoted", "{the release}[ to {to}]"],
  "POST /v1/releases/{id}/complete": ["complete", "completed", "{the release}"],
  "POST /v1/operations/{operationId}/cancel": ["cancel", "cancelled", "the promotion of {the release}"],
  "DELETE /v1/inbox/{itemId}": ["dismiss", "dismissed", "an item of the inbox"],
  "POST /v1/inbox/{itemId}/adopt": ["link", "linked", "a branch to {card}"],
  "POST /v1/webhooks": ["create", "created", "{the webhook}"],
  "PATCH /v1/webhooks/{id}": ["change", "changed", "{the webhook}"],
  "DELETE /v1/webhooks/{id}": ["delete", "deleted", "{the webhook}"],
  "POST /v1/webhooks/{id}/ping": ["ping", "pinged", "{the webhook}"],
  "POST /v1/webhooks/{id}/rotate": ["replace", "replaced", "the secret of {the webhook}"],
  "POST /v1/webhooks/{id}/replay": ["send", "sent", "events again to {the webhook}"],
  "PATCH /console/v1/members/{userId}": ["change", "changed", "the role of {the member}[ to {to}]"],
  "DELETE /console/v1/members/{userId}": ["remove", "removed", "{the member}"],
  "POST /console/v1/invitations": ["invite", "invited", "{the account}"],
  "DELETE /console/v1/invitations/{id}": ["revoke", "revoked", "the invitation of {the account}"],
  "POST /console/v1/agents": ["register", "registered", "{the agent}"],
  "PATCH /console/v1/agents/{userId}": ["change", "changed", "the owner of {the agent}"],
  "DELETE /console/v1/agents/{userId}": ["end", "ended", "the registration of {the agent}"],
  "POST /console/v1/credentials": ["issue", "issued", "{the API key}"],
  "POST /console/v1/credentials/{id}/rotate": ["replace", "replaced", "{the API key}"],
  "DELETE /console/v1/credentials/{id}": ["revoke", "revoked", "{the API key}"],
  "POST /console/v1/monitors": ["create", "created", "{the monitor}"],
  "POST /console/v1/monitors/{monitorId}/rotate": ["replace", "replaced", "the secret of {the monitor}"],
  "DELETE /console/v1/monitors/{monitorId}": ["remove", "removed", "{the monitor}"],
};

/** Actions with their words for a filter, such as "moved a card", in the order of the words. */
export const ACTIONS: readonly (readonly [action: string, words: string])[] = [
  ...Object.entries(SENTENCES).map(([action, [, past, rest]]) => {
    const words = partsOf(rest, { card: null, subject: null, to: null, refused: 0 });
    return [action, `${past} ${words.filter((part) => typeof part === "string").join("")}`] as const;
  }),
  ["trunkline", "ran a command"] as const,
].toSorted(([, one], [, other]) => one.localeCompare(other));

/** A part of a sentence: words, or a name that somebody has typed. */
export type Part =
  | string
  | { readonly name: string }
  | { readonly card: NonNullable<Attempt["names"]["card"]> };

/** What happened in an attempt, after the name of its actor. */
export function sentenceOf({ action, names, outcome }: Attempt): readonly Part[] {
  const known = Object.hasOwn(SENTENCES, action) ? SENTENCES[action] : undefined;
  const isCommand = action.startsWith("trunkline ");
  const [verb, past, rest] = known ?? (isCommand ? ["run", "ran", ""] : ["call", "called", ""]);
  const parts = known ? partsOf(rest, names) : [isCommand ? `the command ${action}` : action];
  return [`${startOf(outcome, verb, past)} `, ...parts, ...refusalsOf(names)];
}

/** The end of the sentence of a promotion that left cards where they were. */
const refusalsOf = ({ refused }: Attempt["names"]): Part[] =>
  refused === 0 ? [] : [`; ${cardsOf(refused)} ${refused === 1 ? "was" : "were"} refused`];

function startOf({ status, problem }: Attempt["outcome"], verb: string, past: string): string {
  if (problem !== null) return status === 403 ? `was not allowed to ${verb}` : `tried to ${verb}`;
  // What was asked for happens later, if at all.
  return status === 202 ? `asked to ${verb}` : past;
}

/** The parts of the rest of a sentence. */
function partsOf(rest: string, names: Attempt["names"]): Part[] {
  return rest.split(/(\{[^}]+\}|\[[^\]]+\])/).flatMap((piece): Part[] => {
    if (piece.startsWith("[")) return names.to === null ? [] : partsOf(piece.slice(1, -1), names);
    if (piece === "{to}") return [{ name: names.to ?? "" }];
    if (piece === "{card}") return names.card ? [{ card: names.card }] : ["a card"];
    if (!piece.startsWith("{")) return piece === "" ? [] : [piece];
    const noun = piece.slice("{the ".length, -1);
    if (names.subject !== null) return [`the ${noun} `, { name: names.subject }];
    return [`${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`];
  });
}

/** How an attempt ended, unless it did what it says. */
export function endOf({ action, outcome: { status, problem, replay } }: Attempt): string | null {
  if (problem === null) return replay ? "Repeated" : null;
  const isRefusal = status !== null && status < 500 && !action.startsWith("trunkline ");
  const ended = isRefusal ? "Refused" : "Failed";
  return problem === "refused" ? ended : `${ended}: ${problem.replaceAll("_", " ")}`;
}
