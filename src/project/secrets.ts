/** Reads and writes the secrets of a run, and registers them for redaction. */
import path from "node:path";
import { type Secrets, type SourceReader, scopeOf } from "../core/engine/index.ts";
import {
  appFolder,
  type CommandEnd,
  type CommandRunner,
  endOfErrors,
  lookAt,
  read,
  SECRET_COMMAND_MS,
  SecretFiles,
  systemDisk,
} from "../core/files/index.ts";
import { kindAt, kinds } from "../core/kinds/index.ts";
import { attributesOf, fileOutputIn, oneTimeSecretName, sensitiveNames } from "../core/lifecycle/index.ts";
import {
  type Change,
  childEnvironment,
  type Desired,
  type Diagnostic,
  ExpressionError,
  fail,
  ifErrno,
  ifExplained,
  isObject,
  type Json,
  located,
  type Origin,
  type OutputState,
  openUrl,
  type Plan,
  type ResourceState,
  type SecretSource,
  sourceName,
  sourcePlace,
  split,
  UNKNOWN,
} from "../core/model/index.ts";
import { filesOfState } from "../core/record/index.ts";
import { type Field, learnVariable, type Redaction } from "./redaction.ts";
import type { Host, ProjectSource } from "./source.ts";

type Command = readonly [string, ...string[]];

/**
 * Returns the sources and destinations of the secrets of a run. Paths are relative to the project's folder, and commands run
 * there.
 */
export function secretsOf(
  source: ProjectSource,
  host: Host,
  redaction: Redaction,
  { files, providers }: Desired,
): Secrets {
  if (source.rehearsal !== undefined) return source.rehearsal.secrets;
  const tokens = [...providers.values()].map(({ tokenEnv }) => tokenEnv);
  const inherited = childEnvironment(source.env, tokens);
  const run = (command: Command, input: string, env: Readonly<Record<string, string>>) =>
    host.capture(command, {
      cwd: source.dir,
      env: { ...inherited, ...env },
      input,
      timeoutMs: SECRET_COMMAND_MS,
    });
  const outputs = secretFiles(source, files, run);
  return {
    secretOutputs: {
      check: (output, of) => outputs.check(output, of),
      held: (output, of) => outputs.held(output, of),
      // The command may print the secret in an error, so register the secret first.
      write: (output, of, secret) => {
        redaction.learn(`${of.address}.${of.attribute}`, secret);
        return outputs.write(output, of, secret);
      },
    },
    readSource: sourceReader(source, redaction, (command) => run(command, "", {})),
  };
}

const noCommand: CommandRunner = () => Promise.reject(new Error("a check runs no command"));

function secretFiles(source: ProjectSource, files: readonly string[], run = noCommand): SecretFiles {
  const { dir: folder, cwd, state } = source;
  const projects = source.stack === undefined ? [] : [source.stack.run.project, appFolder(folder)];
  // A secret must not overwrite a file of hostform.
  const own = [...Object.values(filesOfState(state)), ...files.map((file) => path.resolve(cwd, file))];
  return new SecretFiles({ folder, projects, run, disk: systemDisk, look: lookAt, own });
}

/**
 * Returns an error for each `secret_output` that is a file of hostform, or is outside of the project without
 * `outside_project`. Writes nothing.
 */
export async function misplacedOutputs(source: ProjectSource, { files, resources }: Desired): Promise<Diagnostic[]> {
  const outputs = secretFiles(source, files);
  const found = resources.map(async ({ address, type, config, locate }) => {
    const output = fileOutputIn(config);
    if (output === undefined) return [];
    const attribute = secretNameOf(type);
    const misplaced = await outputs.destination(output, { address, attribute }).then(() => [], diagnosticsOf);
    return misplaced.map((diagnostic) => located(diagnostic, locate(["secret_output"])));
  });
  return (await Promise.all(found)).flat();
}

/** Adds the destination of its secret to each change. Returns an error if a template results in a forbidden destination. */
export async function withDestinations(
  source: ProjectSource,
  changes: readonly Change[],
  { files, resources }: Desired,
): Promise<{ readonly changes: readonly Change[]; readonly diagnostics: readonly Diagnostic[] }> {
  const outputs = secretFiles(source, files);
  const diagnostics: Diagnostic[] = [];
  const placed = changes.map(async (change): Promise<Change> => {
    const output = fileOutputIn(change.after ?? {});
    const { address } = change;
    const attribute = secretNameOf(change.type);
    if (output === undefined || !bringsSecret(change, attribute)) return change;
    try {
      const { inside, shown } = await outputs.destination(output, { address, attribute });
      return { ...change, secretTo: inside ? shown : `${shown}, outside of the project` };
    } catch (error) {
      const range = resources.find((resource) => resource.address === address)?.locate(["secret_output"]);
      diagnostics.push(...diagnosticsOf(error).map((diagnostic) => located({ address, ...diagnostic }, range)));
      return change;
    }
  });
  return { changes: await Promise.all(placed), diagnostics };
}

function bringsSecret({ actions, after_unknown: unknown, reasons }: Change, attribute: string): boolean {
  if (actions.some((action) => action === "create")) return true;
  const isRenewed = isObject(unknown) && unknown[attribute] !== undefined;
  return isRenewed || reasons.some((reason) => reason.attribute === attribute || reason.attribute === "secret_output");
}

const secretNameOf = (type: string): string => oneTimeSecretName(kinds.get(type)) ?? "secret";

const diagnosticsOf = ifExplained(({ diagnostics }) => diagnostics);

/**
 * Returns the function that reads secret sources, each at most once. It registers a value for redaction before returning it.
 */
function sourceReader(
  { env, dir }: ProjectSource,
  redaction: Redaction,
  run: (command: Command) => Promise<CommandEnd>,
): SourceReader {
  const learn = (source: SecretSource, value: string | undefined) => {
    redaction.learn(sourceName(source), value?.replace(BYTE_ORDER_MARK, ""));
    redaction.refuseIn();
  };
  const given = async (source: SecretSource): Promise<string> => {
    if ("env" in source) {
      const value = env[source.env];
      learn(source, value);
      if (value) return legible(value, source);
      const detail = value === undefined ? "It is not set." : "It is empty.";
      return unreadable(source, detail, "Set it, export it, and apply again.");
    }
    if ("file" in source) {
      const text = await textOf(path.resolve(dir, source.file), source);
      learn(source, text);
      return lineOf(text, source);
    }
    const { failure, stdout, stderr } = await run(source.command);
    learn(source, stdout);
    if (failure === undefined) return lineOf(stdout, source);
    return unreadable(source, `It ${failure}. ${endOfErrors(stderr, stdout)}`, "Fix the command, or name another.");
  };
  const values = new Map<string, Promise<string>>();
  return (source) => {
    const key = JSON.stringify(source);
    const value = values.get(key) ?? given(source);
    values.set(key, value);
    return value;
  };
}

/** Byte order mark. Editors and shells on Windows write it at the start of a text. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Returns the text without its last line break. */
function lineOf(text: string, source: SecretSource): string {
  const printed = "command" in source;
  const fix = printed ? "Let it print the value, and nothing else." : "Put the value there, and nothing else.";
  const line = legible(text, source)
    .replace(BYTE_ORDER_MARK, "")
    .replace(/\r?\n$/, "");
  if (line === "") unreadable(source, printed ? "It printed nothing to standard output." : "It is empty.", fix);
  if (/[\r\n]/.test(line)) {
    unreadable(source, printed ? "It printed more than one line." : "It has more than one line.", fix);
  }
  return line;
}

/**
 * Rejects text that is not UTF-8, because hostform would send a wrong secret. Decoding changes invalid bytes to U+FFFD, and
 * UTF-16 contains NULs.
 */
function legible(text: string, source: SecretSource): string {
  if (!/[\uFFFD\0]/.test(text)) return text;
  return unreadable(source, "It is not UTF-8 text.", "Give the value in UTF-8; PowerShell's `>` writes UTF-16.");
}

async function textOf(file: string, source: SecretSource): Promise<string> {
  const refused = ifErrno((reason) =>
    unreadable(source, `${file}: ${reason}.`, "Check the path: it is relative to the project's folder."),
  );
  return (await read(file).catch(refused)).toString();
}

function unreadable(source: SecretSource, detail: string, fix: string): never {
  fail("secret.source", `A secret value cannot be read from ${sourcePlace(source)}`, { detail, remedies: [fix] });
}

/** Registers the secrets of a declaration: tokens, passwords, and values of expressions with sensitive parts. */
export function learnDeclared(
  redaction: Redaction,
  { providers, resources, data = [] }: Desired,
  env: ProjectSource["env"],
): void {
  const scope = scopeOf(() => UNKNOWN, env);
  for (const { tokenEnv } of providers.values()) if (tokenEnv !== undefined) learnVariable(redaction, env, tokenEnv);
  for (const { sources = new Map() } of resources)
    for (const source of sources.values()) if ("env" in source) learnVariable(redaction, env, source.env);
  for (const one of [...resources, ...data]) {
    for (const name of Object.keys(one.config)) {
      const origin = one.originOf?.(name, scope);
      const text = origin === undefined ? one.config[name] : origin.open;
      if (typeof text === "string" && text.includes("://")) redaction.open(baseOf(text));
      if (origin === undefined) continue;
      try {
        learnPart(redaction, origin, split(one.evaluate(name, scope)).known);
      } catch (error) {
        // Without a value, there is no secret.
        if (!(error instanceof ExpressionError)) throw error;
      }
    }
  }
}

/** Registers the sensitive values of a plan, before and after its changes. */
export function learnPlan(redaction: Redaction, { changes, outputs = [] }: Plan): void {
  // An output without a secret source may be a domain, which approvers must read.
  for (const { origin, before, after } of outputs)
    if (origin !== undefined) learnPart(redaction, origin, before, after);
  for (const { address, before, after, sensitive, origins = {} } of changes)
    for (const name of sensitive)
      learnPart(redaction, origins[name] ?? { from: [`${address}.${name}`] }, before?.[name], after?.[name]);
}

/** Registers the sensitive outputs. Excludes outputs that CDKTF adds for other stacks. */
export function learnOutputs(redaction: Redaction, outputs: ReadonlyMap<string, OutputState>): void {
  for (const [name, { value, sensitive }] of outputs)
    if (sensitive && !name.startsWith("cross-stack-output-")) redaction.learn(`output.${name}`, textsIn(value));
}

/** Registers the secrets of a resource in the state. */
export function learnResource(redaction: Redaction, resource: ResourceState): void {
  const { address, attributes, private: mark } = resource;
  for (const name of secretNames(resource))
    learnPart(redaction, { from: [`${address}.${name}`] }, attributes[name], mark.deposed?.[name]);
}

/** Returns the names of attributes with secrets: secret by kind, or by a sensitive source. */
export function secretNames({ address, sensitive }: ResourceState): ReadonlySet<string> {
  const kind = kindAt(address);
  return new Set([...(kind === undefined ? [] : sensitiveNames(kind)), ...sensitive]);
}

/** Returns a URL without its query. */
const baseOf = (url: string): string => openUrl(url).split(/[?#]/)[0] ?? "";

/** Registers sensitive values. If the sensitive part is in the path of a URL, the URL without query is also registered. */
function learnPart(redaction: Redaction, { from, open = "" }: Origin, ...values: readonly (Json | undefined)[]): void {
  for (const text of values.flatMap((value) => (value === undefined ? [] : textsIn(value)))) {
    const isInPath = openUrl(text) !== text && !open.includes("?") && !redaction.isOpen(baseOf(text));
    redaction.learn(from.join(", "), text, isInPath ? baseOf(text) : undefined);
  }
}

/** Returns the values that approvers must read: addresses, and decisive attributes that are not sensitive. */
export function fieldsOf({ changes }: Plan): Field[] {
  return changes.flatMap(({ address, type, before, after, sensitive }): Field[] => {
    const kind = kinds.get(type);
    const attributes = kind === undefined ? [] : attributesOf(kind);
    const values = attributes.flatMap(({ name, meta }) => {
      if (!meta.decisive || sensitive.includes(name)) return [];
      const texts = [before?.[name], after?.[name]].flatMap((value) => textsIn(value ?? null));
      return texts.map((text): Field => [`${name} of ${address}`, text]);
    });
    return [["The address of a resource", address], ...values];
  });
}

/** Returns the strings in a value. */
export function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value as object).flatMap(textsIn) : [];
}
