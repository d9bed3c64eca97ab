/** `state …` and `force-unlock`: what is recorded, read and repaired by hand. Nothing is sent to the API. */
import path from "node:path";
import {
  didYouMean,
  fail,
  HostformError,
  isPattern,
  type Json,
  type ResourceState,
  type State,
  selected,
  some,
} from "../core/model/index.ts";
import { interruptible } from "../project/interrupt.ts";
import { secretNames } from "../project/known-secrets.ts";
import { rotateKey } from "../project/rotate-key.ts";
import type { ProjectState } from "../project/state.ts";
import { escapeLine, jsonText, plural, renderListing } from "../report/index.ts";
import { orFail, readText } from "./files.ts";
import { type Action, printJson, printResult, revealJson, type Switches, say } from "./terminal.ts";

interface StateListFlags {
  /** Prints a table with ids and providers. */
  readonly long?: boolean;
}

/** `hostform state list [ADDRESS-PREFIX|PATTERN]`: what is recorded. Takes no lock. */
export const runStateList: Action<StateListFlags, [prefix?: string]> = async (
  terminal,
  project,
  flags,
  prefix = "",
) => {
  const { resources } = await project.state.read();
  const all = [...resources.values()];
  const chosen = isPattern(prefix) ? like(prefix, all) : all.filter(({ address }) => address.startsWith(prefix));
  const rows = stateRows(chosen);
  if (rows.length === 0 && prefix !== "") {
    fail("plan.address", `No address in the state begins with ${prefix}.${didYouMean(prefix, resources.keys())}`);
  }
  if (terminal.json) printJson(terminal, rows);
  else if (flags.long) terminal.out(renderListing("state", rows, terminal.outLook));
  else terminal.out(rows.map(({ address }) => `${escapeLine(address)}\n`).join(""));
  return 0;
};

/** Rows of a listing of recorded resources. */
export const stateRows = (resources: readonly ResourceState[]) =>
  resources.map(({ address, provider, attributes }) => ({ address, id: attributes.id ?? null, provider }));

/** The recorded resources that a pattern means. @throws HostformError `plan.address` for none. */
function like(pattern: string, all: readonly ResourceState[]): ResourceState[] {
  const selectable = all.map(({ address, private: { client } }) => ({ address, client }));
  const chosen = new Set(selected([pattern], selectable));
  return all.filter(({ address }) => chosen.has(address));
}

const HIDDEN = "(sensitive value)";

/** `hostform state show ADDRESS`: the recorded attributes of one resource; secrets only with `--reveal`. Takes no lock. */
export const runStateShow: Action<Switches<"reveal">, [address: string]> = async (
  terminal,
  project,
  flags,
  address,
) => {
  const [resource, ...others] = isPattern(address)
    ? like(address, [...(await project.state.read()).resources.values()])
    : await project.state.select(address);
  if (resource === undefined || others.length > 0) {
    fail("usage", `${address} names ${others.length + 1} resources`, {
      detail: some([resource, ...others].flatMap((one) => one?.address ?? [])),
      remedies: ["Name one of them, in quotes for the shell."],
    });
  }
  const secrets = secretNames(resource);
  const hidden = flags.reveal ? new Set<string>() : secrets;
  const { provider, dependencies, private: mark } = resource;
  const shown = Object.entries(resource.attributes).map(([name, value]): [string, Json] => [
    name,
    hidden.has(name) && value !== null ? HIDDEN : value,
  ]);
  const json = {
    address: resource.address,
    provider,
    dependencies,
    sensitive: [...secrets],
    ...(mark.pending && { pending: mark.pending }),
    attributes: Object.fromEntries(shown),
  };
  if (terminal.json) (flags.reveal ? revealJson : printJson)(terminal, json);
  else (flags.reveal ? terminal.reveal : terminal.out)(textOf(resource, hidden));
  return 0;
};

function textOf(
  { address, attributes, provider, dependencies, private: mark }: ResourceState,
  hidden: ReadonlySet<string>,
): string {
  const shown = Object.entries(attributes).filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  const lines = shown.map(([name, value]) => {
    const text = hidden.has(name) ? HIDDEN : jsonText(value, 2).replaceAll("\n", "\n    ");
    return `    ${escapeLine(name).padEnd(width)} = ${text}`;
  });
  return [
    `# ${escapeLine(address)}`,
    `# account: ${escapeLine(provider)}`,
    ...(dependencies.length > 0 ? [`# depends on: ${dependencies.map(escapeLine).join(", ")}`] : []),
    ...(mark.pending ? [`# pending since ${escapeLine(mark.pending.since)}: its create has no known outcome`] : []),
    ...lines,
    "",
  ].join("\n");
}

/** `hostform state rm ADDRESS…`: forgets resources and what is declared inside them. All stay in the account. All of them, or none when one is unknown. */
export const runStateRm: Action<object, [addresses: readonly string[]]> = async (terminal, project, _, addresses) => {
  return project.state.write("state rm", async (store) => {
    const removed = await project.state.forget(store, addresses);
    printResult(terminal, { removed }, removed.map((address) => `Forgot ${escapeLine(address)}\n`).join(""));
    const what = plural(removed.length, "resource");
    if (!terminal.json) say(terminal, `Removed ${what} from the state. Nothing was changed in the account.`);
    return 0;
  });
};

/** `hostform state mv FROM TO`: gives a resource, or all instances of one, another address, and what is declared inside it. */
export const runStateMv: Action<object, [from: string, to: string]> = async (terminal, project, _, from, to) => {
  return project.state.write("state mv", async (store) => {
    const moved = await project.state.move(store, from, to);
    const steps = moved.map((step) => `Moved ${escapeLine(step.from)} to ${escapeLine(step.to)}\n`);
    printResult(terminal, { moved }, steps.join(""));
    return 0;
  });
};

/** `hostform state pull`: the text of the state as it is stored, byte for byte, secrets included. Takes no lock. */
export const runStatePull: Action = async (terminal, project) => {
  const text = await project.state.store().pull();
  if (text === undefined) say(terminal, "There is no state yet: nothing was applied or imported.");
  else terminal.exact(text, "The state");
  return 0;
};

/** `hostform state push [FILE|-]`: replaces the state by the text of a state file. */
export const runStatePush: Action<Switches<"force">, [file: string]> = async (terminal, project, flags, file) => {
  const text = file === "-" ? await terminal.readInput() : await given(path.resolve(project.source.cwd, file));
  await interruptible(project.host, (signal) =>
    project.state.store().push(text, {
      command: "state push",
      timeoutMs: project.source.lockTimeoutMs ?? 0,
      signal,
      force: flags.force === true,
    }),
  );
  printResult(terminal, { pushed: true }, "The state was replaced.\n");
  return 0;
};

const given = (file: string) =>
  orFail(readText(file), "config.unreadable", `${file} cannot be read`, {
    remedies: ["Check the path, or give `-` for standard input."],
  });

/**
 * `hostform state encrypt`: encrypts the state and its backup with the key in the environment. What an earlier run left
 * in its journal is written into the state first.
 */
export const runStateEncrypt: Action = async (terminal, project) => {
  const key = project.state.encryption().required();
  const { found, changed, backup } = await project.state.reseal("state encrypt", { to: "sealed" });
  if (terminal.json) printJson(terminal, { encrypted: found, changed });
  else if (!found) {
    terminal.out(`There is no state yet. The first write encrypts it if ${key.variable} is set then.\n`);
  } else if (!changed) terminal.out("The state is already encrypted.\n");
  else {
    terminal.out(`${backup ? "The state and its backup are" : "The state is"} encrypted.\n`);
    say(terminal, `Keep the ${key.from}: without it nobody can read the state. Earlier copies are still unencrypted.`);
  }
  return 0;
};

/** `hostform state decrypt`: writes the state and its backup in the clear, and says what can be read there now. */
export const runStateDecrypt: Action = async (terminal, project) => {
  const { key } = project.state.encryption();
  const { found, changed, backup, state } = await project.state.reseal("state decrypt", { to: "clear" });
  const secrets = secretsIn(state);
  if (terminal.json) printJson(terminal, { encrypted: false, changed, in_the_clear: secrets });
  else if (!found) terminal.out("There is no state yet.\n");
  else if (!changed) terminal.out("The state is not encrypted.\n");
  else {
    terminal.out(`${backup ? "The state and its backup are" : "The state is"} now unencrypted.\n`);
    // Shown despite --quiet: it is the result of the command.
    terminal.err(warning(secrets));
    if (key !== undefined)
      terminal.err(`Unset ${key.variable}: while it is set, hostform refuses an unencrypted state.\n`);
  }
  return 0;
};

/** The secrets of a state: names of attributes by address. */
function secretsIn({ resources, outputs = new Map() }: State) {
  const ofOutputs = [...outputs].filter(([, { sensitive }]) => sensitive).map(([name]) => `output.${name}`);
  const ofResources = [...resources.values()].flatMap((resource) => {
    const attributes = [...secretNames(resource)].filter((name) => (resource.attributes[name] ?? null) !== null);
    return attributes.length === 0 ? [] : [{ address: resource.address, attributes }];
  });
  return [...ofResources, ...ofOutputs.map((address) => ({ address, attributes: ["value"] }))];
}

function warning(secrets: ReturnType<typeof secretsIn>): string {
  if (secrets.length === 0) return "WARNING: these files can be read now. They hold no secret.\n";
  const lines = secrets.map(
    ({ address, attributes }) => `  ${escapeLine(address)}: ${attributes.map(escapeLine).join(", ")}\n`,
  );
  const count = secrets.flatMap(({ attributes }) => attributes).length;
  return `WARNING: these files can be read now. They hold ${plural(count, "secret")}:\n${lines.join("")}`;
}

/**
 * `hostform state rotate-key`: encrypts the state and its backup with another key. The present one is where it always
 * is, the new one in HOSTFORM_STATE_NEW_PASSPHRASE or HOSTFORM_STATE_NEW_KEY.
 */
export const runStateRotateKey: Action = async (terminal, project) => {
  const { found, changed, backup, old, key, variable } = await rotateKey(project.state);
  if (terminal.json) printJson(terminal, { encrypted: found, changed });
  else if (!found) terminal.out("There is no state yet: nothing is encrypted with the old key.\n");
  else {
    const already = changed ? "" : " already";
    const what = backup ? "The state and its backup are" : "The state is";
    terminal.out(`${what} encrypted with the new ${key.from}${already}.\n`);
    const unset = variable.name === old.variable ? "" : ` and unset ${old.variable}`;
    const value = variable.isCommand ? "the command that prints it" : "it";
    const earlier = `Earlier copies still need the old ${old.from}.`;
    say(terminal, `From now on, set ${variable.name} to ${value}${unset}. ${earlier}`);
  }
  return 0;
};

const OF_THE_STATE = ["state.unreadable", "state.newer", "state.foreign", "state.unencrypted"];
/** A holder that is frozen, or whose machine sleeps, goes on later. */
const alive = (pid: number | null | undefined) =>
  `The holder is still running. It checks the lock before each write and each request, and stops. If it is frozen, end it${pid ? ` (\`kill -KILL ${pid}\`)` : ""}: a process that froze in the instant of a write finishes that write.`;
const FENCED =
  "If the holder is still running, its next write is refused. A request that it recorded less than 5 seconds ago may still leave.";
const NOT_FENCED =
  "If the holder is still running, stop it first. A request that it recorded less than 5 seconds ago may still leave. hostform does not overwrite a state that another run has changed, but another program may. Until then, a server may accept writes under the freed lock ID.";

/** `hostform force-unlock [LOCK-ID]`: says who holds the state, asks, and frees it; only the lock with this id, if one is given. */
export const runForceUnlock: Action<Switches<"yes">, [id?: string]> = async (terminal, project, flags, id) => {
  const held = await whoHolds(project.state);
  if (held === undefined) {
    printResult(terminal, { unlocked: false, holder: null }, "The state is not locked.\n");
    return 0;
  }
  if (!terminal.json) say(terminal, escapeLine(held));
  if (!flags.yes) {
    if (terminal.json) fail("usage", "force-unlock --json cannot ask", { remedies: ["Pass --yes."] });
    const answer = await terminal.ask('Release the lock? Only "yes" is accepted: ');
    if (answer?.trim() !== "yes") {
      fail("apply.declined", answer === undefined ? "Cannot ask: standard input is not a terminal" : "Not approved", {
        detail: "The state stays locked.",
        ...(answer === undefined && { remedies: ["Pass --yes to release it without asking."] }),
      });
    }
  }
  const { holder, alive: isAlive, fenced } = await project.state.store().forceUnlock(id);
  const released = { unlocked: true, holder: holder ?? null, alive: isAlive ?? null };
  printResult(terminal, released, "The lock is released.\n");
  if (terminal.json) return 0;
  if (isAlive) say(terminal, alive(holder?.pid));
  if (isAlive === undefined) say(terminal, fenced === true ? FENCED : NOT_FENCED);
  return 0;
};

/** Returns the holder of the lock, in the words of a refused command. Taking it shows that nobody does. */
async function whoHolds(state: ProjectState): Promise<string | undefined> {
  try {
    const store = await state.store().open({ write: true, command: "force-unlock", timeoutMs: 0 });
    await store.close();
    return undefined;
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const [first] = error.diagnostics;
    if (first?.code === "state.locked") return first.detail ?? first.summary;
    // The lock was taken and freed again: what is wrong is the state itself.
    if (first !== undefined && OF_THE_STATE.includes(first.code)) return undefined;
    throw error;
  }
}
