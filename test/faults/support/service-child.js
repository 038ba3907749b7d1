import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The compiled service in a process of its own, so that it can be killed. Told where it is and, as JSON, its options; says its address in one line. */
const [dir, options] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(dir, "dist/src", file)).href);
const { createLog } = await load("log.js");
const { startService } = await load("service.js");
const log = createLog("warn", { write: (line) => void process.stderr.write(line) });
const service = await startService({ ...JSON.parse(options), log });
process.stdout.write(`${service.baseUrl}\n`);
