/**
 * Where the state is kept and how: the backend that a declaration names, and the encryption with the key of the
 * environment.
 */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { isLoopback, requireAllowedOrigin } from "../core/api/address.ts";

import { create, endOfErrors, exists, isInside, requirePrivateFolder, SECRET_COMMAND_MS } from "../core/files/index.ts";
import { nameOfServer, parsePgServer, requireVerified, stateFolder } from "../core/local/index.ts";

import {
  amended,
  attempt,
  type Backend,
  type Clock,
  childEnvironment,
  type Diagnostic,
  errnoOf,
  fail,
  located,
  messageOf,
  milliseconds,
  parsedJson,
  type State,
  shellPath,
} from "../core/model/index.ts";
import {
  ALLOW_UNENCRYPTED,
  connectTo,
  createFileBackend,
  createHttpBackend,
  createPgBackend,
  Encryption,
  type HttpBackendOptions,
  KEY_VARIABLES,
  type KeyCommand,
  type KeyVariables,
  once,
  readOldKeys,
  readStateKey,
  type StateBackend,
  thisProcess,
} from "../core/record/index.ts";
import type { Log, ProjectParts, ProjectSource } from "./source.ts";
import { stateFile } from "./stacks/stack.ts";
import { requireOwnBackend } from "./trust.ts";

const CONNECT_MS = 10_000;

/**
 * The place of the state that a declaration names: its settings, what Terraform's own variables of the environment add,
 * and the credentials, which come from there alone. Nothing is opened yet.
 * @param signal ends its first reading.
 * @throws HostformError `state.backend` for settings that are missing or not usable.
 */
export async function stateBackend(
  backend: Backend,
  source: ProjectSource,
  clock: Clock,
  log: Pick<Log, "alert">,
  signal?: AbortSignal,
): Promise<StateBackend> {
  try {
    const file = stateFile(source.dir, backend.settings);
    requireOwnBackend(source, backend, file);
    if (backend.type === "local") return await createFileBackend({ path: file, clock });
    const shared = { signal, timeoutMs: timeoutIn(source.env), clock, keep: keeping(source.dir, log) };
    return backend.type === "http"
      ? httpBackend(backend, source, { ...shared, warn: log.alert })
      : pgBackend(backend, source, shared);
  } catch (error) {
    throw amended(error, (one) => located(one, backend.range));
  }
}

/**
 * Refuses to start empty at a backend while a state file lies in the folder: a project that has a state must move it to the
 * backend first.
 * @param path of such a file.
 */
export function refuseForgotten(path: string, { lineage }: State, command: string): void {
  // `force-unlock` opens the state only to see who holds it.
  if (lineage !== "" || command === "force-unlock" || !exists(path)) return;
  fail("state.backend", "The backend has no state yet, but there is a state file in the project's folder", {
    detail: `A backend is declared, so ${path} is no longer used.`,
    remedies: [
      `Copy it to the backend with \`hostform state push ${shellPath(path)}\`, then remove the file. If you do not need it, remove it.`,
    ],
  });
}

/** Time limit of one request to a backend, in milliseconds; undefined: its default. */
function timeoutIn({ HOSTFORM_STATE_TIMEOUT: text }: ProjectSource["env"]): number | undefined {
  if (!text) return undefined;
  const ms = milliseconds(text);
  if (ms !== undefined && ms >= 1_000 && ms <= 3_600_000) return ms;
  return refuse(`HOSTFORM_STATE_TIMEOUT is ${JSON.stringify(text)}, which is not a duration from 1s to 1h`, {
    remedies: ["Set it to a duration such as 30s or 5m, or unset it."],
  });
}

/** Common options of the backends at a server. */
type Shared = Pick<HttpBackendOptions, "signal" | "timeoutMs" | "clock" | "keep">;

function httpBackend(
  backend: Backend,
  source: ProjectSource,
  shared: Shared & Pick<HttpBackendOptions, "warn">,
): StateBackend {
  /** A setting, or the variable that stands in for it; an empty variable is one that is not set. */
  const setting = (name: string) => {
    const declared = backend.settings[name];
    return typeof declared === "string" ? declared : source.env[variableOf(name)] || undefined;
  };
  const url = (name: string) => {
    const text = setting(name);
    if (text === undefined) return undefined;
    const checked = checkedUrl(text, name, backend, source.insecureHttp);
    requireAllowedOrigin(checked, source.env, { of: `The backend's ${name}` });
    return checked;
  };
  const address = url("address");
  if (address === undefined) {
    return refuse("The backend has no address", {
      remedies: ["Set `address`, or the environment variable TF_HTTP_ADDRESS."],
    });
  }
  const lockAddress = url("lock_address");
  const lock = lockAddress && {
    address: lockAddress,
    method: setting("lock_method") ?? "LOCK",
    unlockAddress: url("unlock_address") ?? lockAddress,
    unlockMethod: setting("unlock_method") ?? "UNLOCK",
  };
  const username = source.env.TF_HTTP_USERNAME ?? "";
  const folder = ownStateFolder(source.env);
  const openPool = async () => {
    const { connectionPool } = await import("../core/api/connect.ts");
    return connectionPool(address, source.env, { timeoutMs: CONNECT_MS });
  };
  let pool: ReturnType<typeof openPool> | undefined;
  return createHttpBackend({
    address,
    updateMethod: setting("update_method") ?? "POST",
    lock,
    withoutLock: backend.settings.without_lock === true,
    credentials: username === "" ? undefined : { username, password: source.env.TF_HTTP_PASSWORD ?? "" },
    ...shared,
    uuid: randomUUID,
    contender: thisProcess(),
    lifeSigns: folder && path.join(folder, "locks"),
    connect: () => {
      pool ??= openPool();
      return pool;
    },
  });
}

/** The state folder where it is this user's alone. In any other one a sign of life proves nothing. */
function ownStateFolder(env: ProjectSource["env"]): string | undefined {
  const folder = stateFolder(env);
  const own = () => {
    if (folder !== undefined) requirePrivateFolder(folder);
    return folder;
  };
  return attempt(own, () => undefined);
}

function pgBackend({ settings }: Backend, source: ProjectSource, { timeoutMs, ...shared }: Shared): StateBackend {
  const contender = thisProcess();
  const server = parsePgServer(source.env, contender.user);
  // A folder is a socket on this machine.
  const address = server.host.includes(":") ? `[${server.host}]` : server.host;
  if (!address.startsWith("/"))
    requireAllowedOrigin(`postgres://${address}:${server.port}`, source.env, { of: "The backend" });
  requireVerified(server, source.env);
  const text = (name: string) => (typeof settings[name] === "string" ? settings[name] : undefined);
  return createPgBackend({
    connect: (applicationName, signal) => connectTo(server, applicationName, { signal, timeoutMs }),
    ...shared,
    server: nameOfServer(server),
    schema: text("schema_name") ?? (source.env.PG_SCHEMA_NAME || "terraform_remote_state"),
    table: text("table_name") ?? (source.env.PG_TABLE_NAME || "states"),
    index: text("index_name") ?? (source.env.PG_INDEX_NAME || "states_by_name"),
    workspace: text("workspace") ?? "default",
    contender,
  });
}

/** Terraform's name for it. */
const KEPT = "errored";
const MOST_KEPT = 9;

/** Keeps a state that a backend does not take in the project's folder, and says so. It may hold secrets that are nowhere else. */
function keeping(folder: string, log: Pick<Log, "alert">) {
  const said = (diagnostic: Omit<Diagnostic, "severity" | "code">) =>
    log.alert({ severity: "warning", code: "state.unwritable", ...diagnostic });
  return async (text: string): Promise<void> => {
    try {
      const name = keepIn(folder, text);
      said({
        summary: `What this run recorded is kept in ${name}`,
        detail: "The backend does not have all of it. The file may hold secrets; only you can read it.",
        remedies: [
          `When the backend works: \`hostform state push ${shellPath(name)}\`, then remove the file. If another run has written since, the push is refused: \`hostform state pull\` shows what is there; import what it lacks.`,
        ],
      });
    } catch (error) {
      said({
        summary: "What this run recorded could not be kept in a file either",
        detail: messageOf(error),
        remedies: ["Run `hostform plan`: it finds what exists in the account, and you can import that."],
      });
    }
  };
}

/** Writes over nothing that was kept before. @returns the name of the file. */
function keepIn(folder: string, text: string): string {
  for (let nth = 1; ; nth++) {
    const name = `${KEPT}${nth === 1 ? "" : `-${nth}`}.tfstate`;
    try {
      create(path.join(folder, name), text, 0o600);
      return name;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST" || nth === MOST_KEPT) throw error;
    }
  }
}

/** `lock_address` -> `TF_HTTP_LOCK_ADDRESS`, as Terraform names it. */
function variableOf(setting: string): string {
  return `TF_HTTP_${setting.toUpperCase()}`;
}

/** Checks an address. One from the environment has passed no check before. */
function checkedUrl(text: string, name: string, backend: Backend, insecureHttp: boolean): URL {
  const where = typeof backend.settings[name] === "string" ? `\`${name}\`` : variableOf(name);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return refuse(`${where} is not an address`, { remedies: ["Give it one such as https://gitlab.example/api/v4/…"] });
  }
  if (url.username !== "" || url.password !== "") {
    return refuse(`${where} holds a user name or password`, {
      remedies: ["Remove it there, and set TF_HTTP_USERNAME and TF_HTTP_PASSWORD."],
    });
  }
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url)) {
    return refuse(`Plain http to ${url.hostname} would expose the state to the network`, {
      detail: "http is accepted for loopback addresses only.",
      remedies: ["Use https, or pass --insecure-http if the connection is protected in another way."],
    });
  }
  return url;
}

function refuse(summary: string, more: Pick<Diagnostic, "detail" | "remedies">): never {
  fail("state.backend", summary, more);
}

export type StateKeys = ReturnType<typeof stateKeys>;

/**
 * Gives the encryption of a state with the key that these variables of the environment hold; without one, it seals and opens
 * nothing. Each key is derived or asked for once in a run.
 * @throws HostformError `state.key` for a key that cannot be one.
 */
export function stateKeys({ source, host, redaction }: Omit<ProjectParts, "log">, tokens: Tokens = async () => []) {
  const { env } = source;
  /** Runs the command of a variable, without a shell, a credential, or a file of the project. What it prints is a secret. */
  const run: KeyCommand = async (command, variable) => {
    const options = {
      cwd: folderOfUser(source),
      // Not even what HOSTFORM_CHILD_ENV names.
      env: childEnvironment({ ...env, HOSTFORM_CHILD_ENV: undefined }, await tokens()),
      input: "",
      timeoutMs: SECRET_COMMAND_MS,
    };
    const { failure, stdout, stderr } = await host.capture(wordsOf(command, variable), options);
    redaction.learn(`command in ${variable}`, stdout);
    if (failure === undefined) return stdout;
    return fail("state.key", `The command in ${variable} ${failure}`, {
      detail: endOfErrors(stderr, stdout),
      remedies: ["Fix the command: it prints the key, 32 bytes in base64 or hexadecimal, and nothing else."],
    });
  };
  const make = (variables: KeyVariables) => {
    const key = readStateKey(env, variables, run);
    if (variables !== KEY_VARIABLES) return new Encryption({ key, variables });
    const old = once(() => readOldKeys(env, key, run));
    return new Encryption({ key, variables, old, acceptsClear: env[ALLOW_UNENCRYPTED] === "1" });
  };
  const known = new Map<KeyVariables, Encryption>();
  return (variables = KEY_VARIABLES): Encryption => {
    const made = known.get(variables) ?? make(variables);
    known.set(variables, made);
    return made;
  };
}

/** Names of the variables that hold the API tokens of the declaration. */
type Tokens = () => Promise<readonly (string | undefined)[]>;

/** The home of the user, who has configured the command of the key; the top of the disk where the project lies around it. */
function folderOfUser({ env, dir, cwd }: ProjectSource): string {
  const home = env.HOME || env.USERPROFILE || "";
  const isOwn = path.isAbsolute(home) && exists(home) && ![dir, cwd].some((one) => isInside(one, home));
  return isOwn ? home : path.parse(dir).root;
}

/** The program and its arguments: divided at white space, or a list in JSON. */
function wordsOf(command: string, variable: string): [string, ...string[]] {
  const text = command.trim();
  const list = parsedJson(text);
  const words = Array.isArray(list) ? list : /^\[|["'\\]/.test(text) ? [] : text.split(/\s+/);
  const [program, ...args] = words.every((word) => typeof word === "string") ? words : [];
  if (program !== undefined) return [program, ...args];
  return fail("state.key", `${variable} is not a program with its arguments`, {
    detail: "It does not run in a shell: quotes and backslashes have no meaning.",
    remedies: [`Write it as a list in JSON: ${variable}='["program", "an argument"]'.`],
  });
}
