import { inconsistencies } from "../../test/support/invariants.ts";
import { nothingAcknowledgedIsLost } from "./acknowledged.ts";
import { armedMovesLandOnce } from "./armed-moves.ts";
import { attemptsAreAudited } from "./audit.ts";
import { claimsExclude } from "./claims.ts";
import { endedAccessHasNoEffects, repositoriesHaveOneBoard } from "./effects.ts";
import { gatesAreClosed } from "./gates.ts";
import { rateLimitsAreRespected } from "./rate-limits.ts";
import { checksMatchForge, nothingIsLeftOver } from "./after-repair.ts";
import { tenantsAreIsolated, noSecretIsExposed } from "./secrets.ts";
import { mergesByOthersAreReported, timelinesOnlyGrow } from "./timelines.ts";
import { responsesAreEqual, nothingIsDuplicated } from "./duplicates.ts";
import { feedEqualsTimelines, readersSkipNoEvent } from "./feed.ts";
import { formerTrunks } from "./rewritten-trunks.ts";
import { trunkReportFollowsBranches } from "./trunk-report.ts";
import { grantedPermissionsUnblock } from "./permissions.ts";
import { commentsMatchForge, refsOfPeopleStay } from "./people.ts";
import { writesOf, type Invariant, type Subject } from "./subject.ts";

/** A broken invariant. */
export interface Violation {
  readonly invariant: string;
  readonly text: string;
}

const allOf =
  (...parts: readonly Invariant[]): Invariant =>
  async (subject) =>
    (await Promise.all(parts.map(async (part) => part(subject)))).flat();

const INVARIANTS: Readonly<Record<string, Invariant>> = {
  I1: nothingAcknowledgedIsLost,
  I2: nothingIsDuplicated,
  I3: responsesAreEqual,
  I4: grantedPermissionsUnblock,
  I5: timelinesOnlyGrow,
  I6: mergesByOthersAreReported,
  I8: nothingIsLeftOver,
  I9: allOf(tenantsAreIsolated, endedAccessHasNoEffects, repositoriesHaveOneBoard, refsOfPeopleStay),
  I10: noSecretIsExposed,
  I11: rateLimitsAreRespected,
  I12: checksMatchForge,
  I13: feedEqualsTimelines,
  I14: readersSkipNoEvent,
  I15: claimsExclude,
  I16: armedMovesLandOnce,
  I17: gatesAreClosed,
  I18: attemptsAreAudited,
  I19: trunkReportFollowsBranches,
  I20: commentsMatchForge,
};

/** A finished run. */
type Run = Omit<Subject, "writes">;

/** Checks all invariants of a finished run. Starts again if a reused connection was closed. */
export async function check(run: Run, attempts = 3): Promise<Violation[]> {
  try {
    return await checkOnce(run);
  } catch (error) {
    const isClosed = error instanceof TypeError && error.message === "fetch failed";
    if (!isClosed || attempts === 1) throw error;
    return check(run, attempts - 1);
  }
}

async function checkOnce(run: Run): Promise<Violation[]> {
  const { world, history } = run;
  const subject: Subject = { ...run, writes: writesOf(history.calls) };
  const found: Violation[] = [];
  for (const [invariant, findViolations] of Object.entries(INVARIANTS)) {
    for (const text of await findViolations(subject)) found.push({ invariant, text });
  }
  for (const board of world.boards) {
    const compared = { forge: world.forge, db: world.deps.db, formerly: formerTrunks(history) };
    const inconsistent = await inconsistencies(compared, board);
    for (const { invariant, text } of inconsistent) found.push({ invariant, text: `${board.owner} ${text}` });
  }
  return found;
}
