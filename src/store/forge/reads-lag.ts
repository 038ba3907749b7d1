/** SQL for how long GitHub may return older state after a change. */
export const READS_LAG = "interval '1 minute'";
