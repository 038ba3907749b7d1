/**
 * Makes a statement's transaction end without waiting for the disk, in SQL: a condition that holds. What is written so is on the disk before anything that
 * is committed after it, and until then it is lost only together with PostgreSQL: then as if the process had died just before. So it does for what
 * a later commit of the same work, one that waits, makes good.
 */
export const LEFT_TO_LATER_COMMITS = "set_config('synchronous_commit', 'off', true) is not null";
