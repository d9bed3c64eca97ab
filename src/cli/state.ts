/** Runs `state …` and `force-unlock`, which read and repair the state. Sends no request to the API. */
import path from "node:path";
import {
  didYouMean,
  HostformError,
  isPattern,
  type Json,
  type ResourceState,
  type State,
} from "../core/model/index.ts";
import { interruptible } from "../project/interrupt.ts";
import { keptFiles, migrateState } from "../project/migrate.ts";
import type { Project } from "../project/project.ts";
import { rotateKey } from "../project/rotate-key.ts";
import { secretNames } from "../project/secrets.ts";
import { selected } from "../project/selection.ts";
import type { ProjectState } from "../project/state.ts";
import { escapeLine, jsonText, plural, renderListing } from "../report/index.ts";
import { orRefuse, readText } from "./files.ts";
import { problem, raise } from "./messages.ts";
import { type Action, printJson, printResult, revealJson, type Switches, say } from "./terminal.ts";

/** Runs `hostform state list [ADDRESS-PREFIX|PATTERN]`. Takes no lock. */
export const runStateList: Action<Switches<"long">, [prefix?: string]> = async (
  terminal,
  project,
  flags,
  prefix = "",
) => {
  const { resources, lineage } = await project.state.read();
  if (lineage === "") await requireDeclaration(project);
  const all = [...resources.values()];
  const chosen = isPattern(prefix) ? like(prefix, all) : all.filter(({ address }) => address.startsWith(prefix));
  const rows = stateRows(chosen);
  if (rows.length === 0 && prefix !== "") raise("plan.address", { prefix, fix: didYouMean(prefix, resources.keys()) });
  if (terminal.json) printJson(terminal, "state list", rows);
  else if (flags.long) terminal.out(renderListing("state", rows, terminal.outLook));
  else terminal.out(rows.map(({ address }) => `${escapeLine(address)}\n`).join(""));
  return 0;
};

/** Returns the table rows of resources in the state. */
export const stateRows = (resources: readonly ResourceState[]) =>
  resources.map(({ address, provider, attributes }) => ({ address, id: attributes.id ?? null, provider }));

/** Returns the resources that match a pattern. @throws HostformError `plan.address` if none does. */
function like(pattern: string, all: readonly ResourceState[]): ResourceState[] {
  const selectable = all.map(({ address, private: { client } }) => ({ address, client }));
  const chosen = new Set(selected([pattern], selectable));
  return all.filter(({ address }) => chosen.has(address));
}

const HIDDEN = "(sensitive value)";

/** Runs `hostform state show ADDRESS`: prints the attributes of a resource. Takes no lock. */
export const runStateShow: Action<Switches<"reveal">, [address: string]> = async (
  terminal,
  project,
  flags,
  address,
) => {
  const [resource, ...others] = isPattern(address)
    ? like(address, [...(await project.state.read()).resources.values()])
    : await project.state.select(address);
  if (resource === undefined || others.length > 0)
    raise("usage/several", { name: address, found: [resource, ...others].flatMap((one) => one?.address ?? []) });
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
  if (terminal.json) (flags.reveal ? revealJson : printJson)(terminal, "state show", json);
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

/**
 * Runs `hostform state rm ADDRESS…`: removes resources and their nested resources from the state. If one address is unknown,
 * removes nothing.
 */
export const runStateRm: Action<object, [addresses: readonly string[]]> = async (terminal, project, _, addresses) => {
  return project.state.write("state rm", async (store) => {
    const removed = await project.state.forget(store, addresses);
    printResult(
      terminal,
      "state rm",
      { removed },
      removed.map((address) => `Forgot ${escapeLine(address)}\n`).join(""),
    );
    const what = plural(removed.length, "resource");
    if (!terminal.json) say(terminal, `Removed ${what} from the state. Nothing was changed in the account.`);
    return 0;
  });
};

/** Runs `hostform state mv FROM TO`: renames a resource with all its instances and nested resources. */
export const runStateMv: Action<object, [from: string, to: string]> = async (terminal, project, _, from, to) => {
  return project.state.write("state mv", async (store) => {
    const moved = await project.state.move(store, from, to);
    const steps = moved.map((step) => `Moved ${escapeLine(step.from)} to ${escapeLine(step.to)}\n`);
    printResult(terminal, "state mv", { moved }, steps.join(""));
    return 0;
  });
};

/** Runs `hostform state pull`: prints the exact bytes of the state, with its secrets. Takes no lock. */
export const runStatePull: Action = async (terminal, project) => {
  const text = await project.state.store().pull();
  if (text !== undefined) terminal.exact(text, "The state");
  else {
    await requireDeclaration(project);
    say(terminal, "There is no state yet: nothing was applied or imported.");
  }
  return 0;
};

/** Rejects a folder that contains neither a state nor a declaration. @throws HostformError `config.missing`. */
async function requireDeclaration({ source, declaration }: Project): Promise<void> {
  if (source.stack !== undefined) return;
  const { diagnostics } = await declaration.check();
  const missing = diagnostics.filter(({ code }) => code === "config.missing");
  if (missing.length > 0) throw new HostformError(missing);
}

/** Runs `hostform state push [FILE|-]`: replaces the state. */
export const runStatePush: Action<Switches<"force">, [file: string]> = async (terminal, project, flags, file) => {
  const named = path.resolve(project.source.cwd, file);
  const reading = file === "-" ? terminal.readInput() : readText(named);
  const text = await orRefuse(reading, (reason) => problem("config.unreadable", { file, reason }));
  await interruptible(project.host, (signal) =>
    project.state.store().push(text, {
      command: "state push",
      timeoutMs: project.source.lockTimeoutMs ?? 0,
      signal,
      force: flags.force === true,
    }),
  );
  printResult(terminal, "state push", { pushed: true }, "The state was replaced.\n");
  return 0;
};

/** Runs `hostform state migrate`: copies the state to the declared backend, or back to the file. */
export const runStateMigrate: Action<Switches<"back">> = async (terminal, project, { back = false }) => {
  const migrated = await migrateState(project, back);
  const target = back ? "file" : "backend";
  const { state } = project;
  if (migrated === undefined) {
    const isThere = await (back ? state.inFile() : state).store().pull();
    const text = isThere ? `The state is already in the ${target}.` : "There is no state.";
    printResult(terminal, "state migrate", { resources: null, history: null }, `${text}\n`);
    return 0;
  }
  const { resources, entries, left } = migrated;
  const { backup, history } = keptFiles(project);
  const next = back ? "Now remove `backend` from the declaration." : `The state file is now ${backup}.`;
  if (entries === undefined) {
    const kept = left === 0 ? "" : ` First copy ${history} to it: ${plural(left, "entry", "entries")}.`;
    say(terminal, `The backend http keeps no history. Set HOSTFORM_HISTORY to a file that all runs share.${kept}`);
  }
  const copied = [
    plural(resources, "resource"),
    ...(entries ? [plural(entries, "history entry", "history entries")] : []),
  ].join(" and ");
  printResult(
    terminal,
    "state migrate",
    { resources, history: entries ?? null },
    `Copied ${copied} to the ${target}. ${next}\n`,
  );
  return 0;
};

/** Runs `hostform state encrypt`: merges the journal into the state, and encrypts state and backup. */
export const runStateEncrypt: Action = async (terminal, project) => {
  const key = project.state.encryption().required();
  const { found, changed, backup } = await project.state.reseal("state encrypt", { to: "sealed" });
  if (terminal.json) printJson(terminal, "state encrypt", { encrypted: found, changed });
  else if (!found) {
    terminal.out(`There is no state yet. The first write encrypts it if ${key.variable} is set then.\n`);
  } else if (!changed) terminal.out("The state is already encrypted.\n");
  else {
    terminal.out(`${backup ? "The state and its backup are" : "The state is"} encrypted.\n`);
    say(terminal, `Keep the ${key.from}: without it nobody can read the state. Earlier copies are still unencrypted.`);
  }
  return 0;
};

/** Runs `hostform state decrypt`: writes state and backup unencrypted, and lists their secrets. */
export const runStateDecrypt: Action = async (terminal, project) => {
  const { key } = project.state.encryption();
  const { found, changed, backup, state } = await project.state.reseal("state decrypt", { to: "clear" });
  const secrets = secretsIn(state);
  if (terminal.json) printJson(terminal, "state decrypt", { encrypted: false, changed, in_the_clear: secrets });
  else if (!found) terminal.out("There is no state yet.\n");
  else if (!changed) terminal.out("The state is not encrypted.\n");
  else {
    terminal.out(`${backup ? "The state and its backup are" : "The state is"} now unencrypted.\n`);
    // This warning is the result of the command, so `--quiet` does not hide it.
    terminal.err(warning(secrets));
    if (key !== undefined)
      terminal.err(`Unset ${key.variable}: while it is set, hostform refuses an unencrypted state.\n`);
  }
  return 0;
};

/** Returns the names of secret attributes by address. */
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
 * Runs `hostform state rotate-key`: encrypts the state with the key in HOSTFORM_STATE_NEW_PASSPHRASE or
 * HOSTFORM_STATE_NEW_KEY.
 */
export const runStateRotateKey: Action = async (terminal, project) => {
  const { found, changed, backup, old, key, variable, provider } = await rotateKey(project.state);
  if (terminal.json) printJson(terminal, "state rotate-key", { encrypted: found, changed });
  else if (!found) terminal.out("There is no state yet: nothing is encrypted with the old key.\n");
  else {
    const already = changed ? "" : " already";
    const what = backup ? "The state and its backup are" : "The state is";
    terminal.out(`${what} encrypted with the new ${key.from}${already}.\n`);
    const unset = variable.name === old.variable ? "" : ` and unset ${old.variable}`;
    const value = variable.isCommand ? "the command that prints it" : "it";
    const earlier = `Earlier copies still need the old ${old.from}.`;
    const next =
      provider === undefined
        ? `From now on, set ${variable.name} to ${value}${unset}.`
        : `In TF_ENCRYPTION, declare ${escapeLine(provider)} with the new ${key.from}. Without TF_ENCRYPTION, set ${variable.name}.`;
    say(terminal, `${next} ${earlier}`);
  }
  return 0;
};

/** Codes of errors in the content of the state. The lock itself was free. */
const OF_THE_STATE = ["state.unreadable", "state.newer", "state.foreign", "state.unencrypted"];
const alive = (pid: number | null | undefined) =>
  `The holder is still running. It checks the lock before each write and each request, and stops. If it is frozen, end it${pid ? ` (\`kill -KILL ${pid}\`)` : ""}: a process that froze in the instant of a write finishes that write.`;
const FENCED =
  "If the holder is still running, its next write is refused. A request that it recorded less than 5 seconds ago may still leave.";
const NOT_FENCED =
  "If the holder is still running, stop it first. A request that it recorded less than 5 seconds ago may still leave. hostform does not overwrite a state that another run has changed, but another program may. Until then, a server may accept writes under the freed lock ID.";

/** Runs `hostform force-unlock [LOCK-ID]`: prints the owner of the lock, asks for approval, and releases the lock. */
export const runForceUnlock: Action<Switches<"yes">, [id?: string]> = async (terminal, project, flags, id) => {
  const held = await whoHolds(project.state);
  if (held === undefined) {
    printResult(terminal, "force-unlock", { unlocked: false, holder: null }, "The state is not locked.\n");
    return 0;
  }
  if (!terminal.json) say(terminal, escapeLine(held));
  if (!flags.yes) {
    if (terminal.json) raise("usage/asks", { command: "force-unlock", flag: "--yes" });
    const answer = await terminal.ask('Release the lock? Only "yes" is accepted: ');
    if (answer === undefined) raise("apply.declined/unasked", { flags: "--yes", command: "release the lock" });
    if (answer.trim() !== "yes") raise("apply.declined/lock", {});
  }
  const { holder, alive: isAlive, fenced } = await project.state.store().forceUnlock(id);
  const released = { unlocked: true, holder: holder ?? null, alive: isAlive ?? null };
  printResult(terminal, "force-unlock", released, "The lock is released.\n");
  if (terminal.json) return 0;
  if (isAlive) say(terminal, alive(holder?.pid));
  if (isAlive === undefined) say(terminal, fenced === true ? FENCED : NOT_FENCED);
  return 0;
};

/** Describes the owner of the lock. Undefined if this process can take the lock. */
async function whoHolds(state: ProjectState): Promise<string | undefined> {
  try {
    const store = await state.store().open({ write: true, command: "force-unlock", timeoutMs: 0 });
    await store.close();
    return undefined;
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const [first] = error.diagnostics;
    if (first?.code === "state.locked") return first.detail ?? first.summary;
    if (first !== undefined && OF_THE_STATE.includes(first.code)) return undefined;
    throw error;
  }
}
