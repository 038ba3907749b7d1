/** So long the forge's reads may show what was there before a write, in SQL. */
export const READS_LAG = "interval '1 minute'";
