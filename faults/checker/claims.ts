import { rows } from "../../src/store/db/connect.ts";
import type { RecordedCall } from "../history.ts";
import { cardNumberOf, groupBy, isSuccess, UNIX_MS, type Invariant, type Subject } from "./subject.ts";

/** A state of a card's claim, as a trigger recorded it. */
interface ClaimRow {
  readonly at: number;
  readonly card: number;
  readonly owner: string;
  readonly generation: number;
  readonly claimId: string;
  readonly clientId: string;
  readonly expiresAt: number;
}

/** A claim from its beginning until it expired, was released or was taken over. */
interface Tenure extends Pick<ClaimRow, "card" | "owner" | "generation" | "claimId" | "clientId"> {
  readonly from: number;
  readonly until: number;
}

/** The default of the service, which the run does not change. */
const CLAIMS_PER_CREDENTIAL = 3;

// Invariant: I15 A claim has one holder per generation, and a lost claim writes nothing
/**
 * The generations of a card grow by one, and each has one claim; a claim begins only after the one of
 * another credential has ended; a credential holds at most three; a write with a claim that was lost
 * before it was sent is refused.
 */
export const claimsExclude: Invariant = async (subject) => {
  const states = await readStates(subject);
  const tenures = [...groupBy(states, ({ owner, card }) => `${owner} ${card}`).values()].map(tenuresOf);
  return [
    ...tenures.flatMap(badSuccessions),
    ...tooManyClaims(tenures.flat()),
    ...lateWrites(subject, tenures.flat()),
  ];
};

const readStates = ({ world }: Subject): Promise<ClaimRow[]> =>
  rows<ClaimRow>(
    world.deps.db,
    `select ${UNIX_MS("f.at")}, c.number as card, o.slug as owner, f.generation, f.claim_id as "claimId",
            k.client_id as "clientId", extract(epoch from f.expires_at)::float8 * 1000 as "expiresAt"
       from faults.claims f join cards c on c.id = f.card_id join workspaces w on w.id = c.workspace_id
       join organizations o on o.id = w.organization_id join credentials k on k.id = f.credential_id
      order by f.id`,
  );

/**
 * One tenure for consecutive states with the same generation, claim and credential. One that is
 * extended after its end is a second tenure of that generation.
 */
function tenuresOf(states: readonly ClaimRow[]): Tenure[] {
  const tenures: (Tenure & { until: number })[] = [];
  for (const state of states) {
    const { at, expiresAt, ...of } = state;
    const last = tenures.at(-1);
    const isSame =
      last?.generation === of.generation && last.claimId === of.claimId && last.clientId === of.clientId;
    if (last && isSame && (last.until > at || expiresAt <= at)) last.until = expiresAt;
    else {
      if (last?.clientId === of.clientId) last.until = Math.min(last.until, at);
      tenures.push({ ...of, from: at, until: expiresAt });
    }
  }
  return tenures;
}

const named = ({ owner, card, generation, clientId }: Tenure): string =>
  `${owner} card ${card}: the claim ${generation} of ${clientId}`;

function badSuccessions(tenures: readonly Tenure[]): string[] {
  return tenures.flatMap((tenure, at) => {
    const before = tenures[at - 1];
    const generation = (before?.generation ?? 0) + 1;
    if (tenure.generation !== generation) return [`${named(tenure)} follows the claim ${generation - 1}`];
    if (!before || before.until <= tenure.from) return [];
    const early = Math.round(before.until - tenure.from);
    return [`${named(tenure)} began ${early} ms before that of ${before.clientId} ended`];
  });
}

const isHeldDuring = ({ from, until }: Tenure, start: number, end: number): boolean =>
  from <= end && until >= start;

function tooManyClaims(tenures: readonly Tenure[]): string[] {
  return tenures.flatMap((tenure) => {
    const { clientId, from } = tenure;
    const held = tenures.filter(
      (each) => each.clientId === clientId && each.from <= from && each.until > from,
    );
    return held.length > CLAIMS_PER_CREDENTIAL ? [`${named(tenure)} is one of ${held.length} at a time`] : [];
  });
}

/** Clocks of one machine, in different units. */
const TOLERANCE_MS = 5;

function lateWrites({ history }: Subject, tenures: readonly Tenure[]): string[] {
  return history.calls
    .filter((call) => call.claim !== null && isSuccess(call) && !call.isReplay)
    .filter((call) => !tenures.some((tenure) => permits(tenure, call)))
    .map(({ actor, key, claim }) => `${actor} ${key} wrote under the lost claim ${claim}`);
}

function permits(tenure: Tenure, call: RecordedCall): boolean {
  const { owner, claim, clientId, start, end } = call;
  return (
    tenure.owner === owner &&
    tenure.clientId === clientId &&
    tenure.card === cardNumberOf(call) &&
    claim === `${tenure.claimId}.${tenure.generation}` &&
    isHeldDuring(tenure, start - TOLERANCE_MS, end + TOLERANCE_MS)
  );
}
