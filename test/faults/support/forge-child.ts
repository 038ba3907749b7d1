import { matches, type CallMatch } from "../../../sandbox/forge/control/match.ts";
import { startForge } from "../../../sandbox/forge/start-forge.ts";

/** The forge as a child process. Its options are JSON in an argument; it prints its address. */
export interface ForgeChildOptions {
  readonly dataDir: string;
  readonly port: number;
  readonly webhookUrl: string;
  /** The call at which it is killed, before or after its effect; null for none. */
  readonly diesAt: { readonly match: CallMatch; readonly effect: "before" | "after" } | null;
}

const { diesAt, ...options } = JSON.parse(process.argv[2] ?? "{}") as ForgeChildOptions;
void startForge({
  ...options,
  seed: false,
  hooks: {
    aroundCall: async (call, proceed) => {
      if (!diesAt || !matches(diesAt.match, call, () => null)) return proceed();
      if (diesAt.effect === "after") await proceed();
      process.kill(process.pid, "SIGKILL");
      return "hang";
    },
  },
}).then(({ apiUrl }) => process.stdout.write(`${apiUrl}\n`));
