import type { Forge } from "../../forge/forge.ts";
import type { Db } from "../../store/db/connect.ts";
import { listUnknownDeliveries } from "../../store/forge/deliveries.ts";
import { checkDatabase } from "./check-database.ts";
import { checkForge, type WebhookPlace } from "./check-forge.ts";
import { checkAddress, checkSignIn, type SignInState } from "./check-service.ts";
import type { Finding } from "./finding.ts";

/** What a running service knows of itself. */
export interface Examined {
  readonly db: Db;
  readonly databaseUrl: string;
  readonly place: WebhookPlace;
  /** Null in the sandbox, where everybody can sign in. */
  readonly signIn: SignInState | null;
}

/** Runs the checks of a setup with this access to GitHub. */
export type Examine = (forge: Forge) => Promise<readonly Finding[]>;

/** The checks of `trunkline doctor` for a running service. Callers at the same time share one run. */
export function createExamine({ db, databaseUrl, place, signIn }: Examined): Examine {
  let running: Promise<readonly Finding[]> | undefined;
  const run = async (forge: Forge): Promise<readonly Finding[]> => [
    ...(await checkDatabase(db, databaseUrl)),
    ...(place.publicUrl === null ? [] : await checkAddress(place.publicUrl)),
    ...(await checkForge(forge, place, (guids) => listUnknownDeliveries(db, guids))),
    ...(signIn ? [checkSignIn(signIn)] : []),
  ];
  return (forge) =>
    (running ??= run(forge).finally(() => {
      running = undefined;
    }));
}
