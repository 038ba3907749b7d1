import type { CardHead } from "../../store/cards/cards.ts";
import { type Repository } from "../../store/forge/repositories.ts";
import type { Actor } from "../../store/events/timeline.ts";

export interface EventContext {
  readonly repository: Repository;
  readonly card: CardHead;
  readonly actor: Actor;
}
