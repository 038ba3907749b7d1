/** The ids of PostgreSQL's advisory locks that all processes share. They are arbitrary but different. */
export const LOCK_IDS = {
  /** Applying migrations. */
  migrations: 7_411_206_001,
  /** Numbering events. */
  eventNumbers: 7_411_206_002,
  /** Extending the hash chain of the audit log. */
  auditChain: 7_411_206_003,
  /** Unlocking the jobs of dead workers. */
  deadWorkers: 7_411_206_004,
} as const;
