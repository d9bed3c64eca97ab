/** `__complete WORDS`: the candidates for the last word, from the definition of the command line and from the state. */
import type { Argument, Command, Option } from "commander";
import { escapeLine } from "../report/escape.ts";
import type { CliCommand } from "./command.ts";
import { commonOptionsOf } from "./options.ts";
import { buildProgram } from "./program.ts";
import type { GuardedIo } from "./terminal.ts";

/** Candidates for a value: words of the state, files, folders, or given words. `targets` are addresses and clients. */
type Values = keyof Recorded | "files" | "folders" | readonly string[];

type Recorded = Awaited<ReturnType<typeof recordedWords>>;

const BY_OPTION: Readonly<Record<string, Values>> = {
  "--target": "targets",
  "--client": "clients",
  "--select": "domains",
};

const BY_NAME: Readonly<Record<string, Values>> = {
  address: "addresses",
  addresses: "addresses",
  from: "addresses",
  to: "addresses",
  service: "addresses",
  "address-prefix": "targets",
  names: "domains",
  file: "files",
  path: "files",
  plan: "files",
  dir: "folders",
};

/**
 * Prints one candidate a line, with its description after a tab. `:files` and `:folders` leave the names to the shell.
 * @param words after `hostform`; the last one is being typed. The shell drops candidates with another beginning.
 */
export async function printCandidates(words: readonly string[], io: GuardedIo): Promise<number> {
  const program = buildProgram(io);
  const typed = words.slice(0, -1);
  const current = words.at(-1)?.trim() ?? "";
  const [flag = ""] = current.split("=");
  let command: Command = program;
  let option: Option | undefined;
  for (const word of typed) {
    if (word === "--") return 0;
    if (option !== undefined) option = undefined;
    else if (word.startsWith("-")) option = valued(program, command, word);
    else command = command.commands.find((sub) => sub.name() === word && word !== "help") ?? command;
  }
  const assigned = current.includes("=") ? valued(program, command, flag) : undefined;
  const line = (word: string, about = "") => io.out(`${escapeLine(word)}${about && `\t${about}`}\n`);
  const offer = async (values: Values, before = "") => {
    if (values === "files" || values === "folders") return io.out(`:${values}\n`);
    const found = typeof values === "string" ? (await recordedIn(program, typed, io))?.[values] : values;
    for (const word of found ?? []) line(before + word);
  };
  if (option !== undefined) await offer(valuesOf(option));
  else if (assigned !== undefined) await offer(valuesOf(assigned), `${flag}=`);
  else {
    const [argument] = command.registeredArguments;
    const values = argument === undefined || command.commands.length > 0 ? [] : valuesOf(argument);
    if (!flag.startsWith("-")) {
      for (const sub of command.commands) line(sub.name(), sub.description());
      await offer(values);
    }
    if (flag.startsWith("-") || (command.commands.length === 0 && values.length === 0))
      for (const { short, long, description, hidden } of [...command.options, ...program.options])
        for (const name of new Set([long, short])) if (name && !hidden) line(name, description);
  }
  return 0;
}

/** Returns the option of a flag, if it takes a value. */
function valued(program: Command, command: Command, flag: string): Option | undefined {
  const named = [...command.options, ...program.options].find(({ short, long }) => flag === short || flag === long);
  return named?.required || named?.optional ? named : undefined;
}

function valuesOf(one: Argument | Option): Values {
  if (one.argChoices !== undefined) return one.argChoices;
  const name = "flags" in one ? /[<[]([^>\]]+)/.exec(one.flags)?.[1] : one.name();
  return ("long" in one && BY_OPTION[one.long ?? ""]) || BY_NAME[name ?? ""] || [];
}

/**
 * Reads the words of the state that the options select; undefined if the state cannot be read. Somebody who presses TAB
 * waits for no server, and starts no program.
 */
async function recordedIn(program: CliCommand, typed: readonly string[], io: GuardedIo): Promise<Recorded | undefined> {
  try {
    program.parseOptions([...typed]);
    return await recordedWords(program, io);
  } catch {
    return undefined;
  }
}

async function recordedWords(program: CliCommand, io: GuardedIo) {
  const { source, environment } = commonOptionsOf(program, io);
  const [{ inEnvironment }, { refuseUntrustedCommand }, { Project }, { opened }] = await Promise.all([
    import("../project/environments.ts"),
    import("../project/trust.ts"),
    import("../project/project.ts"),
    import("./terminal.ts"),
  ]);
  await refuseUntrustedCommand(source, "state list");
  const chosen = environment === undefined ? source : await inEnvironment(source, environment, false);
  const quiet = { json: false, quiet: true, verbose: false, color: false };
  const { state } = new Project(opened(io, quiet, chosen).parts);
  const resources = (await state.isLocal()) ? [...(await state.read()).resources.values()] : [];
  const sorted = (words: readonly string[]) => [...new Set(words)].toSorted();
  const addresses = sorted(resources.map(({ address }) => address));
  const clients = sorted(resources.flatMap(({ private: { client } }) => client ?? []));
  const domains = sorted(resources.flatMap(({ attributes: { domain } }) => (typeof domain === "string" ? domain : [])));
  return { addresses, clients, domains, targets: [...addresses, ...clients.map((client) => `client:${client}`)] };
}
