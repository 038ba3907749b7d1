import { createLog } from "../../../src/log.ts";
import { startService, type ServiceOptions } from "../../../src/service.ts";

/** The service in a process of its own, so that it can be killed. Told its options as JSON; says its address in one line. */
const options = JSON.parse(process.argv[2] ?? "") as Omit<ServiceOptions, "log">;
const log = createLog("warn", { write: (line) => void process.stderr.write(line) });
void startService({ ...options, log }).then(({ baseUrl }) => process.stdout.write(`${baseUrl}\n`));
