/** Runs `sandbox`: serves the API on this machine, until Ctrl-C or while a command runs. */
import path from "node:path";
import { childEnvironment, fail, HostformError, shellWord } from "../core/model/index.ts";
import type { ProjectSource } from "../project/source.ts";
import { orFail, readText } from "./files.ts";
import { type Action, revealJson, say, type Terminal } from "./terminal.ts";

/** Only types are imported here. The module is loaded when the sandbox starts. */
type Sandbox = import("../sandbox/index.ts").Sandbox;
type DeliverTo = import("../sandbox/index.ts").DeliverTo;

interface SandboxFlags {
  readonly port?: number;
  readonly controlPort?: number;
  readonly seed?: string;
  readonly data?: string;
  readonly profile?: string;
  readonly rateLimit?: number;
  readonly autoPay?: boolean;
  readonly clock?: string;
  readonly deliverTo?: readonly string[];
  readonly token?: keyof Sandbox["tokens"];
  readonly open?: boolean;
  readonly snapshot?: string;
}

/**
 * Runs `hostform sandbox`: serves the API on this machine until Ctrl-C, and prints the environment variables to export. With
 * a command after `--`, runs until the command ends, and returns its exit code.
 */
export const runSandbox: Action<SandboxFlags, [words: readonly string[]]> = async (terminal, project, flags, words) => {
  const { sandbox, money } = await start(project.source, flags);
  const exported = {
    HOSTING_BASE_URL: sandbox.url,
    HOSTING_TOKEN: sandbox.tokens[flags.token ?? "agency"],
    HOSTING_MONEY_SCALE: money === "major" ? "0" : "2",
    HOSTING_SANDBOX_CONTROL_URL: sandbox.controlUrl,
  };
  try {
    const [command, ...args] = words;
    if (command !== undefined) {
      if (flags.open) await openDashboard(terminal, sandbox);
      return await terminal.run(command, args, {
        ...inheritedBy(project.source.env),
        ...exported,
        ...(args.length === 0 && promptOf(command)),
      });
    }
    const stopped = new Promise<void>((resolve) => {
      const end = terminal.onInterrupt(() => {
        end();
        resolve();
      });
    });
    announce(terminal, sandbox, flags, exported);
    if (flags.open) await openDashboard(terminal, sandbox);
    await stopped;
    say(terminal, "\nThe sandbox has stopped.");
    return 0;
  } finally {
    await sandbox.close();
  }
};

/**
 * Returns the environment without variables of the real account and its state. Keeps the key of the state: the command is
 * usually hostform, which would write an unencrypted state without the key.
 */
function inheritedBy(env: ProjectSource["env"]): ProjectSource["env"] {
  const keys = Object.entries(env).filter(([name]) => name.startsWith("HOSTFORM_STATE_"));
  return { ...childEnvironment(env), ...Object.fromEntries(keys) };
}

const SHELLS = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

/**
 * Returns environment variables that add SANDBOX to the prompt of a shell. bash needs PROMPT_COMMAND, because its start file
 * overrides PS1.
 */
function promptOf(command: string): Readonly<Record<string, string>> {
  if (!SHELLS.includes(path.basename(command))) return {};
  return {
    PS1: "SANDBOX $ ",
    ...(path.basename(command) === "bash" && { PROMPT_COMMAND: 'PS1="SANDBOX ${PS1#SANDBOX }"' }),
  };
}

/** Starts a sandbox. @returns also the unit of its amounts (§2 Gaps), if a profile is set. */
async function start(source: ProjectSource, flags: SandboxFlags) {
  const { startSandbox, parseProfile, SandboxOptionError } = await import("../sandbox/index.ts");
  const { data, deliverTo, snapshot, port, controlPort, seed, rateLimit, autoPay, clock } = flags;
  const at = (file: string) => path.resolve(source.cwd, file);
  const given = Object.entries({ port, controlPort, seed, rateLimit, autoPay, clock });
  try {
    const profile = flags.profile === undefined ? undefined : parseProfile(flags.profile);
    const sandbox = await startSandbox({
      ...Object.fromEntries(given.filter(([, value]) => value !== undefined)),
      ...(data !== undefined && { data: at(data) }),
      ...(deliverTo !== undefined && { deliverTo: targetsOf(deliverTo) }),
      ...(profile !== undefined && { profile }),
      ...(snapshot !== undefined && { snapshot: await textOf(at(snapshot)) }),
    });
    return { sandbox, money: profile?.money };
  } catch (error) {
    if (!(error instanceof SandboxOptionError)) throw error;
    fail("usage", error.message, snapshot !== undefined && error.option === "snapshot" ? { detail: snapshot } : {});
  }
}

const textOf = (snapshot: string) =>
  orFail(readText(snapshot), "usage", "The snapshot cannot be read", {
    detail: snapshot,
    remedies: ["Save one: GET /snapshot at the control address of a sandbox."],
  });

/** Parses hosts, or a word such as `anywhere`. */
function targetsOf(given: readonly string[]): DeliverTo {
  const [only = ""] = given;
  if (given.includes("anywhere")) return "anywhere";
  return given.length === 1 && (only === "nowhere" || only === "loopback") ? only : given;
}

/** Opens the dashboard. If this fails, the sandbox continues; its URL was printed. */
async function openDashboard(terminal: Terminal, { controlUrl }: Sandbox): Promise<void> {
  try {
    await terminal.browse(controlUrl);
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    say(terminal, `${error.message}. The dashboard is at ${controlUrl}.`);
  }
}

/** Prints the URLs and tokens. The tokens are not secret, because they are valid only for this sandbox. */
function announce(
  terminal: Terminal,
  { url, controlUrl, tokens }: Sandbox,
  flags: SandboxFlags,
  exported: Readonly<Record<string, string>>,
): void {
  const lines = Object.entries(exported).map(([name, value]) => `export ${name}=${shellWord(value)}\n`);
  if (terminal.json)
    revealJson(terminal, "sandbox", { base_url: url, control_url: controlUrl, tokens, export: exported });
  else terminal.reveal(lines.join(""));
  const words = [
    `The sandbox runs at ${url} until Ctrl-C. Run the lines above in another terminal.`,
    `Its data is ${flags.data === undefined ? "in memory, and deleted at the end" : `in ${flags.data}`}.`,
    "Tokens:",
    `  agency    ${tokens.agency}  Manage track, Growth tier, all abilities`,
    `  customer  ${tokens.customer}  a customer account, all abilities`,
    `  viewer    ${tokens.viewer}  the agency's account, view only`,
    `Dashboard (in a browser) and control API (pay invoices, create drift, inject faults): ${controlUrl}`,
  ];
  say(terminal, words.join("\n"));
}
