import { createLog } from "../../src/log.ts";
import { startService, type ServiceOptions } from "../../src/service.ts";

/** The service in a process of its own, so that it can be killed. Its options come as JSON; it says its address in one line. */
const options = JSON.parse(process.argv[2] ?? "{}") as Omit<ServiceOptions, "log">;
const log = createLog("warn", { write: (line) => void process.stderr.write(line) });
const service = await startService({ ...options, log });
process.stdout.write(`${service.baseUrl}\n`);
