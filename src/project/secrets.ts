import path from "node:path";
import type { Secrets, SourceReader } from "../core/engine/index.ts";
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
import { kinds } from "../core/kinds/index.ts";
import { fileOutputIn, oneTimeSecretName } from "../core/lifecycle/index.ts";
import {
  type Change,
  childEnvironment,
  type Desired,
  type Diagnostic,
  fail,
  ifErrno,
  ifExplained,
  isObject,
  located,
  type SecretSource,
  sourceName,
  sourcePlace,
} from "../core/model/index.ts";
import { filesOfState } from "../core/record/index.ts";
import type { Redaction } from "./redaction.ts";
import type { Host, ProjectSource } from "./source.ts";

type Command = readonly [string, ...string[]];

/** How secrets of this run get out and in. Paths are relative to the project's folder, and commands run there. */
export function secretsOf(
  source: ProjectSource,
  host: Pick<Host, "capture">,
  redaction: Redaction,
  { files, providers }: Pick<Desired, "files" | "providers">,
): Secrets {
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
      // A command that is given a secret may repeat it where it says what went wrong.
      write: (output, of, secret) => {
        redaction.learn(`${of.address}.${of.attribute}`, secret);
        return outputs.write(output, of, secret);
      },
    },
    readSource: sourceReader(source, redaction, (command) => run(command, "", {})),
  };
}

const noCommand: CommandRunner = () => Promise.reject(new Error("nothing is run to learn where a secret goes"));

function secretFiles(source: ProjectSource, files: readonly string[], run = noCommand): SecretFiles {
  const { dir: folder, cwd, state } = source;
  const projects = source.stack === undefined ? [] : [source.stack.run.project, appFolder(folder)];
  // What hostform itself reads or writes: no secret may replace it.
  const own = [...Object.values(filesOfState(state)), ...files.map((file) => path.resolve(cwd, file))];
  return new SecretFiles({ folder, projects, run, disk: systemDisk, look: lookAt, own });
}

/**
 * Each `secret_output` that names one of hostform's own files, or leads out of the project without saying so. Nothing is
 * written for that.
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

/**
 * The changes of a plan; those that bring a secret say where it goes, as far as that is allowed. What is not, because a
 * template leads there, is an error of the plan.
 */
export async function withDestinations(
  source: ProjectSource,
  changes: readonly Change[],
  { files, resources }: Pick<Desired, "files" | "resources">,
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

/** Reads sources, each at most once. What is read is announced to the redaction before anybody else has it. */
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

/** What Windows' editors and shells put before a text; no part of it. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** The text without the line break that ends it. */
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
 * The same text, unless it was made of other bytes than UTF-8: U+FFFD stands for each of those, and NUL is what UTF-16
 * leaves. What would be sent then is a secret that nobody has.
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
