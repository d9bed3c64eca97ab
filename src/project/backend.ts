/** Opens the declared backend. The key in the environment encrypts the state. */
import { randomUUID } from "node:crypto";
import { isIP } from "node:net";
import path from "node:path";
import { requireAllowedOrigin } from "../core/api/address.ts";
import { create, exists, requirePrivateFolder } from "../core/files/index.ts";
import { connectTo, nameOfServer, parsePgServer, requireVerified, s3Place, stateFolder } from "../core/local/index.ts";
import {
  amended,
  attempt,
  type Backend,
  type Clock,
  errnoOf,
  fail,
  HostformError,
  isLoopback,
  located,
  messageOf,
  milliseconds,
  type State,
} from "../core/model/index.ts";
import {
  ALLOW_UNENCRYPTED,
  createFileBackend,
  createHttpBackend,
  createPgBackend,
  createS3Backend,
  Encryption,
  type HttpBackendOptions,
  KEY_VARIABLES,
  type KeyCommand,
  type KeyVariables,
  linesInFile,
  once,
  readOldKeys,
  readStateKey,
  type StateBackend,
  TF_ENCRYPTION,
  thisProcess,
} from "../core/record/index.ts";
import { backendSettings } from "../fronts/source/index.ts";
import { keyFromCommand, type Tokens, wordsOf } from "./key-command.ts";
import type { OwnState } from "./library-types.ts";
import { problem, raise } from "./messages.ts";
import type { Log, ProjectParts, ProjectSource } from "./source.ts";
import { stateFile } from "./stacks/stack.ts";
import { requireOwnBackend } from "./trust.ts";

const CONNECT_MS = 10_000;

/**
 * Returns the declared backend, with credentials from Terraform's environment variables. Opens no connection.
 * @param signal Ends the first read.
 * @throws HostformError `state.backend` for missing or unusable settings.
 */
export async function stateBackend(
  backend: Backend,
  source: ProjectSource,
  clock: Clock,
  log: Log,
  signal?: AbortSignal,
): Promise<StateBackend> {
  try {
    const file = stateFile(source.dir, backend.settings);
    requireOwnBackend(source, backend, file);
    if (backend.type === "local") return await createFileBackend({ path: file, clock });
    const shared = { signal, timeoutMs: timeoutIn(source.env), clock, keep: keeping(source.dir, log) };
    if (backend.type === "pg") return pgBackend(backend, source, shared);
    const locking = { ...shared, ...lockOptions(source.env), warn: log.warn };
    return backend.type === "http" ? httpBackend(backend, source, locking) : s3Backend(backend, source, locking);
  } catch (error) {
    throw amended(error, (one) => located(one, backend.range));
  }
}

/** Returns the storage of a program as a backend, for its identity. */
export const ownBackend = ({ ownState: own }: ProjectSource): Backend | undefined =>
  own && { type: "http", settings: { address: `own:${own.text.name}` } };

/** Returns the storage of a program with its errors as diagnostics. An error of `release` is a warning, because the run is complete. */
export function guarded({ text, lock }: OwnState, log: Log): StateBackend {
  const failed = (call: string, severity: "error" | "warning", error: unknown) =>
    problem("state.backend/storage", { place: text.name, call, severity, reason: messageOf(error) });
  const read = () =>
    text.read().then(
      (stored) => stored ?? undefined,
      (error) => {
        throw error instanceof HostformError ? error : new HostformError([failed("read", "error", error)]);
      },
    );
  const acquire: typeof lock.acquire = async (request) => {
    const held = await lock.acquire(request);
    const release = async () => {
      try {
        await held.release();
      } catch (error) {
        log.warn(failed("release", "warning", error));
      }
    };
    return replacing(held, { release });
  };
  return { text: replacing(text, { read }), lock: replacing(lock, { acquire }) };
}

/** Returns the object with other methods. Its own methods keep their `this`. */
export function replacing<T extends object>(object: T, methods: Partial<T>): T {
  const get = (_: T, name: string | symbol) => {
    const found = Reflect.get(methods, name) ?? Reflect.get(object, name);
    return typeof found === "function" ? found.bind(object) : found;
  };
  return new Proxy(object, { get });
}

/** Rejects an empty backend if the project folder still contains a state file. @throws HostformError `state.backend` */
export function refuseForgotten(file: string, { lineage }: State, command: string): void {
  // `force-unlock` only removes the lock.
  if (lineage === "" && command !== "force-unlock" && exists(file)) raise("state.backend/forgotten", { file });
}

/** Returns the time limit of one backend request, in milliseconds. Undefined: the default. */
function timeoutIn({ HOSTFORM_STATE_TIMEOUT: text }: ProjectSource["env"]): number | undefined {
  if (!text) return undefined;
  const ms = milliseconds(text);
  if (ms !== undefined && ms >= 1_000 && ms <= 3_600_000) return ms;
  return fail(
    "state.backend",
    `HOSTFORM_STATE_TIMEOUT is ${JSON.stringify(text)}, which is not a duration from 1s to 1h`,
    {
      remedies: ["Set it to a duration such as 30s or 5m, or unset it."],
    },
  );
}

/** Common options of the server backends. */
type Shared = Pick<HttpBackendOptions, "signal" | "timeoutMs" | "clock" | "keep">;

/** Options of a lock that outlives a killed process. */
function lockOptions(env: ProjectSource["env"]) {
  const folder = ownStateFolder(env);
  return { uuid: randomUUID, contender: thisProcess(), lifeSigns: folder && path.join(folder, "locks") };
}

type Locking = Shared & ReturnType<typeof lockOptions> & Pick<HttpBackendOptions, "warn">;

/** Returns a function that opens the connections to a server once. */
const poolTo = (url: URL, env: ProjectSource["env"]) =>
  once(async () => {
    const { connectionPool } = await import("../core/api/connect.ts");
    return connectionPool(url, env, { timeoutMs: CONNECT_MS });
  });

function httpBackend(backend: Backend, source: ProjectSource, shared: Locking): StateBackend {
  /** Returns a setting, or its environment variable. An empty variable counts as unset. */
  const setting = (name: string) => {
    const declared = backend.settings[name];
    return typeof declared === "string" ? declared : source.env[variableOf(name)] || undefined;
  };
  const url = (name: string) => {
    const text = setting(name);
    if (text === undefined) return undefined;
    const where = typeof backend.settings[name] === "string" ? `\`${name}\`` : variableOf(name);
    const checked = checkedUrl(text, where, source.insecureHttp);
    requireAllowedOrigin(checked, source.env, { of: `The backend's ${name}` });
    return checked;
  };
  const address = url("address");
  if (address === undefined) {
    return fail("state.backend", "The backend has no address", {
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
  const { HOSTFORM_HISTORY: history } = source.env;
  const http = createHttpBackend({
    address,
    updateMethod: setting("update_method") ?? "POST",
    lock,
    withoutLock: backend.settings.without_lock === true,
    credentials: username === "" ? undefined : { username, password: source.env.TF_HTTP_PASSWORD ?? "" },
    ...shared,
    connect: poolTo(address, source.env),
  });
  return history ? { ...http, history: linesInFile(path.resolve(source.cwd, history)) } : http;
}

/** Returns the state folder if only this user can write to it. Otherwise other users could fake a heartbeat. */
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
  // A host that is a path is a local socket.
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

function s3Backend({ settings }: Backend, { env, insecureHttp }: ProjectSource, shared: Locking): StateBackend {
  const checked = backendSettings.s3
    .required({ region: true })
    .safeParse({ region: env.AWS_REGION || env.AWS_DEFAULT_REGION, ...settings });
  if (!checked.success) {
    const issues = checked.error.issues.map(({ path: [name], message }) => `${String(name)}: ${message}`);
    return raise("state.backend/settings", { issues: issues.join("; ") });
  }
  const { region, workspace = "default", profile, ...given } = checked.data;
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (!accessKeyId || !secretAccessKey) return raise("state.backend/credentials", { profile });
  const { bucket, key, endpoint } = s3Place(settings, workspace, env);
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const store = checkedUrl(endpoint ?? `https://s3.${region}.${domain}`, "The endpoint of S3", insecureHttp);
  const isInPath = given.use_path_style || given.force_path_style || bucket.includes(".") || isAddress(store);
  const url = new URL(`${store.pathname.replace(/\/?$/, "/")}${isInPath ? `${bucket}/` : ""}`, store);
  if (!isInPath) url.host = `${bucket}.${store.host}`;
  requireAllowedOrigin(url, env, { of: "The backend's endpoint" });
  return createS3Backend({
    bucket: url,
    key,
    region,
    credentials: { accessKeyId, secretAccessKey, ...(token && { sessionToken: token }) },
    writeHeaders: given.encrypt === true ? { "x-amz-server-side-encryption": "AES256" } : {},
    ...shared,
    connect: poolTo(url, env),
  });
}

const isAddress = ({ hostname }: URL) => isIP(hostname.replace(/[[\]]/g, "")) !== 0;

const MOST_KEPT = 9;

/** Saves a state that the backend rejected to a file in the project folder. It may be the only copy of a secret. */
const keeping =
  (folder: string, log: Log) =>
  async (text: string): Promise<void> => {
    const lost = (error: unknown) => problem("state.unwritable/lost", { reason: messageOf(error) });
    log.warn(attempt(() => problem("state.unwritable/kept", { file: keepIn(folder, text) }), lost));
  };

/** Writes the text to a new file with Terraform's file name. Never replaces a file. @returns the name. */
function keepIn(folder: string, text: string): string {
  for (let nth = 1; ; nth++) {
    const name = `errored${nth === 1 ? "" : `-${nth}`}.tfstate`;
    try {
      create(path.join(folder, name), text, 0o600);
      return name;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST" || nth === MOST_KEPT) throw error;
    }
  }
}

/** Converts `lock_address` to `TF_HTTP_LOCK_ADDRESS`. */
const variableOf = (setting: string) => `TF_HTTP_${setting.toUpperCase()}`;

/** Checks a URL, which may come from the environment. */
function checkedUrl(text: string, where: string, insecureHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return fail("state.backend", `${where} is not an address`, {
      remedies: ["Give it one such as https://gitlab.example/api/v4/…"],
    });
  }
  if (url.username !== "" || url.password !== "") {
    return fail("state.backend", `${where} holds a user name or password`, {
      remedies: [
        "Remove it there, and set the variables of the credentials: TF_HTTP_USERNAME and TF_HTTP_PASSWORD for http.",
      ],
    });
  }
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url))
    return raise("state.backend/http", { host: url.hostname });
  return url;
}

export type StateKeys = ReturnType<typeof stateKeys>;

/**
 * Returns the encryption with the key in these environment variables. Without a key, nothing is encrypted. Each key is
 * derived once per run.
 * @param clear "keep" leaves a clear-text state in clear text.
 * @throws HostformError `state.key` for an invalid key.
 */
export function stateKeys(
  { source, host, redaction }: Omit<ProjectParts, "log">,
  tokens: Tokens = async () => [],
  clear?: "keep",
) {
  const { env } = source;
  const start = async (command: readonly [string, ...string[]], variable: string, input = "") =>
    keyFromCommand({ source, host, redaction }, command, { variable, input, tokens: await tokens() });
  const run: KeyCommand = (command, variable) => start(wordsOf(command, variable), variable);
  const format = formatIn(env);
  const ofTofu = format === undefined ? undefined : env[TF_ENCRYPTION]?.trim();
  const make = (variables: KeyVariables) => {
    if (variables !== KEY_VARIABLES)
      return new Encryption({ key: readStateKey(env, variables, run), variables, format });
    const providers = once(async () => {
      const { tofuProviders } = await import("./tofu-keys.ts");
      const learn = (secret: string) => redaction.learn(TF_ENCRYPTION, secret);
      return tofuProviders(ofTofu ?? "", (command, input) => start(command, TF_ENCRYPTION, input), learn);
    });
    const key = readStateKey(env, variables, run, ofTofu ? providers : undefined);
    const old = once(() => readOldKeys(env, key, run));
    const made = new Encryption({ key, variables, old, format, acceptsClear: clear ?? env[ALLOW_UNENCRYPTED] === "1" });
    if (format === undefined || key !== undefined) return made;
    return fail("state.key", `HOSTFORM_STATE_FORMAT is opentofu, but ${TF_ENCRYPTION} is missing or empty`, {
      remedies: [`Set ${TF_ENCRYPTION} to its value in OpenTofu, or ${variables.passphrase} to its passphrase.`],
    });
  };
  const known = new Map<KeyVariables, Encryption>();
  return (variables = KEY_VARIABLES): Encryption => {
    const made = known.get(variables) ?? make(variables);
    known.set(variables, made);
    return made;
  };
}

/** Returns the form of new encrypted states. TF_ENCRYPTION as the only key selects OpenTofu's form. @throws HostformError `state.key` */
function formatIn(env: ProjectSource["env"]): "opentofu" | undefined {
  const hasOwnKey = Object.values(KEY_VARIABLES).some((name) => env[name] !== undefined);
  const { HOSTFORM_STATE_FORMAT: format = env[TF_ENCRYPTION]?.trim() && !hasOwnKey ? "opentofu" : undefined } = env;
  if (format === undefined || format === "opentofu") return format;
  return fail("state.key", `HOSTFORM_STATE_FORMAT is ${JSON.stringify(format)}`, {
    remedies: ["Set it to opentofu, or unset it for hostform's own form."],
  });
}
