/** The gate `secondPerson`: who pushed or wrote the commits of a card, or owns an agent that did, may not move it. */
export const SECOND_PERSON = "needs a second person";
