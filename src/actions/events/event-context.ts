import type { CardHead } from "../../store/cards/cards.ts";

import { type Repository } from "../../store/forge/repositories.ts";
import type { Actor } from "../../store/events/timeline.ts";

/** What an event is about, and the account that caused it. */
export interface EventContext {
  readonly repository: Repository;
  readonly card: CardHead;
  readonly actor: Actor;
}
