import { v7 } from "uuid";

/** A UUIDv7. Ids of one process sort in the order they are made. */
export const newId = (): string => v7();
