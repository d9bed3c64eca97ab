/** Runs `__complete WORDS`: prints candidates for the last word, from the command definitions and the state. */
import type { Argument, Command, Option } from "commander";
import { escapeLine } from "../report/escape.ts";
import type { CliCommand } from "./command.ts";
import { commonOptionsOf } from "./options.ts";
import { buildProgram } from "./program.ts";
import type { GuardedIo } from "./terminal.ts";

/** Source of candidates: words of the state, or file names of the shell. `targets`: addresses and clients. */
type Source = "addresses" | "clients" | "domains" | "targets" | ":files" | ":folders";

/** Sources by long name of an option, or by name of an argument. */
const SOURCES: Readonly<Record<string, Source>> = {
  "--target": "targets",
  "--client": "clients",
  "--select": "domains",
  address: "addresses",
  addresses: "addresses",
  from: "addresses",
  to: "addresses",
  service: "addresses",
  "address-prefix": "targets",
  names: "domains",
  file: ":files",
  path: ":files",
  plan: ":files",
  dir: ":folders",
};

/**
 * Prints one candidate per line, with a description after a tab. `:files` and `:folders` make the shell complete file names.
 * @param words Words after `hostform`. The last one is incomplete. The shell drops candidates with another prefix.
 */
export async function printCandidates(words: readonly string[], io: GuardedIo): Promise<number> {
  const program = buildProgram(io);
  const typed = words.slice(0, -1);
  const current = words.at(-1)?.trim() ?? "";
  let command: Command = program;
  let option: Option | undefined;
  for (const word of typed) {
    if (word === "--") return 0;
    if (option !== undefined) option = undefined;
    else if (word.startsWith("-")) option = valued(program, command, word);
    else command = command.commands.find((sub) => sub.name() === word && word !== "help") ?? command;
  }
  const print = (word: string, about = "") => io.out(`${escapeLine(word)}${about && `\t${about}`}\n`);
  const printValues = async (of: Option | Argument, begin = "") => {
    const values = of.argChoices ?? (await valuesOf(sourceOf(of), program, typed, io));
    for (const value of values) print(begin + value);
  };
  const [flag = ""] = current.split("=");
  const assigned = current === flag ? undefined : valued(program, command, flag);
  const [argument] = command.commands.length > 0 ? [] : command.registeredArguments;
  if (option !== undefined) await printValues(option);
  else if (assigned !== undefined) await printValues(assigned, `${flag}=`);
  else if (argument !== undefined && !flag.startsWith("-")) await printValues(argument);
  else if (command.commands.length > 0 && !flag.startsWith("-"))
    for (const sub of command.commands) print(sub.name(), sub.description());
  else
    for (const { short, long, description } of [...command.options, ...program.options])
      for (const name of new Set([long, short])) if (name) print(name, description);
  return 0;
}

/** Returns the option of a flag. Undefined if it has no value. */
function valued(program: Command, command: Command, flag: string): Option | undefined {
  const named = [...command.options, ...program.options].find(({ short, long }) => flag === short || flag === long);
  return named?.required || named?.optional ? named : undefined;
}

function sourceOf(of: Argument | Option): Source | undefined {
  if (!("flags" in of)) return SOURCES[of.name()];
  return SOURCES[of.long ?? ""] ?? SOURCES[/[<[]([^>\]]+)/.exec(of.flags)?.[1] ?? ""];
}

/**
 * Returns the words of a source. The options before the word select the state. Completion must be fast, so it contacts no
 * server and starts no program. An unreadable or remote state gives no words.
 */
async function valuesOf(
  source: Source | undefined,
  program: CliCommand,
  typed: readonly string[],
  io: GuardedIo,
): Promise<readonly string[]> {
  if (source === undefined) return [];
  if (source === ":files" || source === ":folders") return [source];
  try {
    program.parseOptions([...typed]);
    const { source: unchosen, environment } = commonOptionsOf(program, io);
    const [{ inEnvironment }, { refuseUntrusted }, { Project }, { opened }] = await Promise.all([
      import("../project/environments.ts"),
      import("../project/trust.ts"),
      import("../project/project.ts"),
      import("./terminal.ts"),
    ]);
    await refuseUntrusted(unchosen, "Completion", false);
    const chosen = environment === undefined ? unchosen : await inEnvironment(unchosen, environment, false);
    const quiet = { json: false, quiet: true, verbose: false, color: false };
    const { state } = new Project(opened(io, quiet, chosen).parts);
    const resources = (await state.isLocal()) ? [...(await state.read()).resources.values()] : [];
    const addresses = resources.map(({ address }) => address);
    const clients = resources.flatMap(({ private: { client } }) => client ?? []);
    const domains = resources.flatMap(({ attributes: { domain } }) => (typeof domain === "string" ? domain : []));
    const targets = [...addresses, ...clients.map((client) => `client:${client}`)];
    return [...new Set({ addresses, clients, domains, targets }[source])].toSorted();
  } catch {
    return [];
  }
}
