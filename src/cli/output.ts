import { didYouMean, isObject, type OutputState, type Remedy } from "../core/model/index.ts";
import type { Project } from "../project/project.ts";
import { escapeText, renderOutputs, renderOutputValue } from "../report/index.ts";
import { problem, raise } from "./messages.ts";
import { type Action, revealJson, type Switches, type Terminal } from "./terminal.ts";

/**
 * Runs `hostform output [NAME]`: prints the outputs in the state, as `terraform output` does. Hides sensitive values, unless
 * the user names the output or sets `--json`. Takes no lock and sends no request.
 */
export const runOutput: Action<Switches<"raw">, [name?: string]> = async (terminal, project, { raw }, name) => {
  if (raw && name === undefined) raise("usage/needs", { option: "--raw", other: "the name of an output" });
  if (raw && terminal.json) raise("usage/combined", { options: "--raw and --json" });
  const { outputs = new Map<string, OutputState>() } = await project.state.read();
  const none = outputs.size === 0 ? await remediesOf(project) : [];
  if (name !== undefined) show(terminal, none, raw === true, name, outputs);
  else if (terminal.json)
    revealJson(terminal, "output", Object.fromEntries([...outputs].map(([key, one]) => [key, full(one)])));
  else if (outputs.size > 0) terminal.out(renderOutputs(outputs));
  else if (!terminal.quiet) project.log.warn(problem("state.output/none", { remedies: none }));
  return 0;
};

/** Returns the remedy if there are no outputs: declare outputs, or first create a declaration or select a stack. */
async function remediesOf({ source, declaration }: Project): Promise<readonly Remedy[]> {
  if (source.stack !== undefined)
    return ["Declare them with `TerraformOutput`, or in `output`; `hostform apply` records them."];
  const { diagnostics } = source.stateNamed === true ? { diagnostics: [] } : await declaration.check();
  const missing = diagnostics.find(({ code }) => code === "config.missing")?.remedies;
  return missing ?? ["Declare them under `outputs`; `hostform apply` records them."];
}

function show(
  terminal: Terminal,
  none: readonly Remedy[],
  raw: boolean,
  name: string,
  outputs: ReadonlyMap<string, OutputState>,
): void {
  const output = outputs.get(name);
  if (output === undefined) {
    if (outputs.size === 0) raise("state.output/empty", { name, remedies: none });
    raise("state.output/unknown", { name, known: [...outputs.keys()], fix: didYouMean(name, outputs.keys()) });
  }
  const { value, type } = output;
  if (terminal.json) revealJson(terminal, "output", value);
  else if (!raw) terminal.reveal(`${renderOutputValue(value, type)}\n`);
  else if (value === null || Array.isArray(value) || isObject(value))
    raise("state.output/raw", { name, what: value === null ? "null" : "a list or a map" });
  // A pipe receives the value unchanged.
  else terminal.exact(terminal.outIsTerminal ? escapeText(String(value)) : String(value), `The output ${name}`);
}

/** Returns the fields in Terraform's order. */
const full = ({ sensitive, type, value }: OutputState) => ({ sensitive, type, value });
