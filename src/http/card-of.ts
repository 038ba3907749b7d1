import { z } from "zod";
import { notFound } from "../errors.ts";
import { findCard, type CardHead } from "../store/cards/cards.ts";
import type { Db } from "../store/db/connect.ts";
import type { BoardRole } from "../store/tenancy/credentials.ts";

export const cardParams = z.object({
  // Digits only: what JavaScript would read as a number besides, such as `0x7` or nothing at all, names no card.
  number: z
    .string()
    .regex(/^-?\d+$/, "a card number is an integer")
    .transform(Number)
    .meta({
      description: "The card's number on this board",
      example: 7,
      override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
        jsonSchema["type"] = "integer";
        delete jsonSchema["pattern"];
      },
    }),
});

export const noCard = (number: number): Error =>
  notFound(
    Number.isSafeInteger(number)
      ? `There is no card ${number} on this board.`
      : "No card has a number that large.",
  );

/** The card a route is about. Throws `not_found`. */
export async function cardOf(db: Db, board: BoardRole, { number }: { number: number }): Promise<CardHead> {
  const found = await findCard(db, board.workspaceId, number);
  if (!found) throw noCard(number);
  return found;
}
