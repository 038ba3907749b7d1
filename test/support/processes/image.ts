import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../..");

/** One instruction of the Dockerfile, with its continuation lines joined. */
export interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** A build stage of the Dockerfile. */
export interface Stage {
  /** The base image, or the name of another stage. */
  readonly from: string;
  readonly name: string | null;
  readonly instructions: readonly Instruction[];
}

/** The Dockerfile's stages in order, with the defaults of build arguments. */
export async function readDockerfile(): Promise<Stage[]> {
  const text = await readFile(join(ROOT, "Dockerfile"), "utf8");
  const lines = text
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const defaults = new Map<string, string>();
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of lines) {
    const [word = "", ...others] = line.split(" ");
    const rest = others.join(" ").trim();
    if (word === "ARG" && stages.length === 0) {
      const [name = "", value = ""] = rest.split("=");
      defaults.set(name, value);
    } else if (word === "FROM") {
      const [image = "", , name = null] = rest.split(" ");
      const from = image.replaceAll(/\$\{(\w+)\}/g, (_, each: string) => defaults.get(each) ?? "");
      stages.push({ from, name, instructions: [] });
    } else stages.at(-1)?.instructions.push({ word, rest });
  }
  return stages;
}

/** The environment that a stage sets. */
export function environmentOfStage({ instructions }: Stage): Record<string, string> {
  const settings = instructions.filter(({ word }) => word === "ENV").flatMap(({ rest }) => rest.split(" "));
  return Object.fromEntries(settings.map((each) => each.split("=") as [string, string]));
}

/** The only instruction of its kind in a stage. */
export function theOnly({ instructions }: Stage, word: string): string {
  const [found, ...others] = instructions.filter((each) => each.word === word);
  if (!found || others.length > 0)
    throw new Error(`the stage has ${others.length + (found ? 1 : 0)} instructions ${word}`);
  return found.rest;
}

/** The names that `.dockerignore` excepts; all others are not in the build context. */
export async function buildContext(): Promise<string[]> {
  const [first, ...others] = (await readFile(join(ROOT, ".dockerignore"), "utf8"))
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (first !== "*" || others.some((line) => !line.startsWith("!")))
    throw new Error(".dockerignore must exclude everything but the names it excepts");
  return others.map((line) => line.slice(1));
}
