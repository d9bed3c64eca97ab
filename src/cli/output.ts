import {
  didYouMean,
  fail,
  isObject,
  type Json,
  type OutputState,
  type Remedy,
  shellWord,
} from "../core/model/index.ts";
import type { ProjectDeclaration } from "../project/declaration.ts";
import type { ProjectSource } from "../project/source.ts";
import { forStack } from "../project/stack-diagnostics.ts";
import { escapeText, renderOutputs, renderOutputValue } from "../report/index.ts";
import { type Action, revealJson, type Terminal } from "./terminal.ts";

interface OutputFlags {
  /** One value as it is, without quotes and line break. */
  readonly raw?: boolean;
}

/**
 * `hostform output [NAME]`: the recorded outputs, as `terraform output` prints them. Takes no lock, sends nothing. Without
 * NAME sensitive ones are hidden; one that is asked for by name, or all of them as JSON, are shown as they are.
 */
export const runOutput: Action<OutputFlags, [name?: string]> = async (terminal, project, { raw = false }, name) => {
  if (raw && name === undefined) {
    fail("usage", "--raw needs the name of an output", { remedies: ["Name it: `hostform output --raw NAME`."] });
  }
  if (raw && terminal.json) fail("usage", "--raw and --json cannot be combined", { remedies: ["Pass one of them."] });
  const { outputs = new Map<string, OutputState>() } = await project.state.read();
  const remedies = () => wayToOutputs(project.source, project.declaration);
  if (name !== undefined) await show(terminal, remedies, raw, name, outputs);
  else if (terminal.json) revealJson(terminal, Object.fromEntries([...outputs].map(([key, one]) => [key, full(one)])));
  else if (outputs.size > 0) terminal.out(renderOutputs(outputs));
  else if (!terminal.quiet) project.log.warn(forStack(project.source, [{ ...NONE, remedies: await remedies() }]));
  return 0;
};

const NONE = { severity: "warning", code: "state.output", summary: "No outputs are recorded" } as const;

/** Returns the way to declare outputs; without a declaration, the way to one. */
async function wayToOutputs(source: ProjectSource, declaration: ProjectDeclaration): Promise<readonly Remedy[]> {
  if (source.stack !== undefined)
    return ["Declare them with `TerraformOutput`, or in `output`; `hostform apply` records them."];
  const { diagnostics } = source.stateNamed === true ? { diagnostics: [] } : await declaration.check();
  const missing = diagnostics.find(({ code }) => code === "config.missing")?.remedies;
  return missing ?? ["Declare them under `outputs`; `hostform apply` records them."];
}

async function show(
  terminal: Terminal,
  whereNone: () => Promise<readonly Remedy[]>,
  raw: boolean,
  name: string,
  outputs: ReadonlyMap<string, OutputState>,
): Promise<void> {
  const output = outputs.get(name);
  if (output === undefined) {
    const known = outputs.size === 0 ? "None is recorded." : `There are ${[...outputs.keys()].join(", ")}.`;
    fail("state.output", `The state has no output ${name}.${didYouMean(name, outputs.keys())}`, {
      detail: known,
      remedies:
        outputs.size === 0
          ? await whereNone()
          : ["Correct the name. An output that you have just declared is recorded by the next `hostform apply`."],
    });
  }
  const { value, type } = output;
  if (terminal.json) revealJson(terminal, value);
  else if (!raw) terminal.reveal(`${renderOutputValue(value, type)}\n`);
  else terminal.exact(rawText(terminal, name, value), `The output ${name}`);
}

/**
 * A text, number or boolean without quotes. A pipe gets it as it is.
 */
function rawText({ outIsTerminal }: Terminal, name: string, value: Json): string {
  if (value === null || Array.isArray(value) || isObject(value)) {
    const what = value === null ? "null" : "a list or a map";
    fail("state.output", `The output ${name} cannot be printed raw: it is ${what}`, {
      detail: "--raw prints texts, numbers and booleans.",
      remedies: [`Use \`hostform output --json ${shellWord(name)}\`.`],
    });
  }
  return outIsTerminal ? escapeText(String(value)) : String(value);
}

/** The fields in the order in which Terraform prints them. */
const full = ({ sensitive, type, value }: OutputState) => ({ sensitive, type, value });
