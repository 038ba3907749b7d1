const common = {
  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  // A failed statement is reported to whoever made it; the log is for what concerns the server.
  log_min_messages: "log",
  log_checkpoints: "off",
  shared_buffers: "32MB",
  // Three processes fewer, and nothing that a container's system call filter could refuse.
  io_method: "sync",
};

/** As in production: a commit that was answered survives a power cut. */
const durable = {
  ...common,
  max_connections: "100",
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
};

/** For a test run: nothing is worth waiting for, and several workers each have their pools. */
const fleeting = {
  ...common,
  max_connections: "200",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  autovacuum: "off",
};

/** Given on the command line, so that a cluster made by an earlier version runs with the settings of this one. */
export function settingArguments(isThrowAway: boolean, more: Readonly<Record<string, string>>): string[] {
  const settings = { ...(isThrowAway ? fleeting : durable), ...more };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
