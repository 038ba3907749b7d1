import { inputFieldsOf, valueAt, withValueAt } from "../../../test/support/input-fields.ts";
import { boardCalls } from "../../../test/support/routes.ts";
import { callSample, sampleOf, type Sample } from "../../../test/support/samples.ts";
import type { Scene } from "../scene.ts";

/** Values that no field expects. */
export const STRANGE: readonly unknown[] = [
  null,
  "",
  " ",
  "\u0000",
  "\ud800",
  "a\ud800b",
  "\u202e",
  "%",
  "%ZZ",
  "%ff",
  "../../etc/passwd",
  "'; drop table cards; --",
  "0000-01-01",
  "0000-01-01T00:00:00.000Z",
  "9999-12-31T23:59:59.999999999Z",
  "-1",
  "1e400",
  "NaN",
  "x".repeat(70_000),
  "é".repeat(501),
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  true,
  [],
  [[]],
  {},
  { a: { b: [null] } },
  Array.from({ length: 2_000 }, () => "019a0000-0000-7000-8000-000000000000"),
];
const HEADERS = ["idempotency-key", "x-service-workspace", "if-none-match", "content-type", "accept"];

/** Puts strange values into every field and header of every route. Bad input is refused, never a failure of the service. */
export async function badInput(scene: Scene): Promise<void> {
  const { world, random } = scene;
  const [board] = world.boards;
  if (!board) throw new Error("the attack needs a board");
  const samples = new Map<string, Sample>();
  while (!scene.isOver()) {
    const { name } = random.pick(boardCalls) ?? { name: "GET /v1/me" };
    // A sample that was used up still reaches the validation of its input.
    const sample = random.chance(0.1)
      ? await sampleOf(name, board)
      : (samples.get(name) ?? (await sampleOf(name, board)));
    samples.set(name, sample);
    const field = random.pick(inputFieldsOf(name).filter((each) => !each.startsWith("header.")));
    const picked = random.pick(STRANGE);
    // An address cannot carry a lone surrogate.
    const value =
      typeof picked === "string" && !field?.startsWith("body") ? Buffer.from(picked).toString() : picked;
    const changed = field === undefined ? sample : withField(sample, field, value);
    const headers = random.chance(0.2) ? { [random.pick(HEADERS) ?? ""]: headerOf(value) } : {};
    const { status, text } = await callSample(name, changed, board.api, { headers });
    scene.tried();
    // A 503 names when to retry; anything else above 499 is a defect.
    if (status >= 500 && status !== 503)
      scene.found(`${name} with ${field} = ${JSON.stringify(value)?.slice(0, 80)}: ${status} ${text}`);
  }
}

/** The sample with a value in a field, also in one that the sample leaves out. */
function withField(sample: Sample, field: string, value: unknown): Sample {
  const isInside = valueAt(sample, field) !== undefined;
  const [part, ...names] = field.split(".");
  if (isInside || names.length !== 1 || (part !== "query" && part !== "body"))
    return isInside ? withValueAt(sample, field, value) : sample;
  return { ...sample, [part]: { ...sample[part], [names[0] ?? ""]: value } };
}

/** Bytes that fetch lets into a header. */
const headerOf = (value: unknown): string =>
  (typeof value === "string" ? value : JSON.stringify(value))
    .replaceAll(/[^\u0020-\u007e]/g, "?")
    .slice(0, 4_000);
