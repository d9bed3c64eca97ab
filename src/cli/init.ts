/** Runs `init`, which writes a first declaration and `.gitignore`, and `schema`, which writes the schema for editors. */
import path from "node:path";
import { create, exists, replace } from "../core/files/index.ts";
import type { ProjectSource } from "../project/source.ts";
import {
  checkStarter,
  editorSchema,
  gitignoreWith,
  nameFrom,
  parseMoneyScale,
  SCHEMA_FILE,
  schemaComment,
  starter,
} from "../project/starter.ts";
import { escapeLine } from "../report/index.ts";
import { orRefuse, readIfPresent } from "./files.ts";
import { problem, raise } from "./messages.ts";
import { type Action, printResult, say, type Terminal } from "./terminal.ts";

interface InitFlags {
  readonly project?: string;
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  readonly moneyScale?: string;
}

const DECLARATION = "hosting.yaml";
/** Path of the schema if the npm package is installed in the project. */
const INSTALLED = `node_modules/hostform/schemas/${SCHEMA_FILE}`;

/** Runs `hostform init`: writes a commented hosting.yaml, and lines in .gitignore that keep secrets out of git. */
export const runInit: Action<InitFlags> = async (terminal, project, flags) => {
  const { dir } = project.source;
  const file = path.join(dir, DECLARATION);
  if (exists(file)) raise("usage/declared", { name: DECLARATION, file });
  const answers = await ask(terminal, project.source, flags);
  const isInstalled = exists(path.join(dir, INSTALLED));
  const text = starter({ ...answers, schema: `./${isInstalled ? INSTALLED : SCHEMA_FILE}` });
  checkStarter(DECLARATION, text, project.source.env);

  const written = [DECLARATION];
  const work = async () => create(file, text, 0o666);
  await orRefuse(work(), unwritable(file));
  if (!isInstalled && (await writeSchema(path.join(dir, SCHEMA_FILE)))) written.push(SCHEMA_FILE);
  const ignoring = path.join(dir, ".gitignore");
  const ignored = (await orRefuse(readIfPresent(ignoring), unwritable(ignoring))) ?? "";
  const extended = gitignoreWith(ignored);
  if (extended !== ignored) {
    await orRefuse(replace(ignoring, extended), unwritable(ignoring));
    written.push(".gitignore");
  }
  const lines = written.map((name) => `Wrote ${name}\n`).join("");
  printResult(terminal, "init", { project: answers.project, written }, lines);
  if (terminal.json) return 0;
  const variable = answers.tokenEnv ?? "HOSTING_TOKEN";
  const token = project.source.env[variable] ? "" : `set ${variable} to an API token, `;
  say(terminal, `Next: ${token}uncomment what you need in ${DECLARATION}, then run \`hostform plan\`.`);
  return 0;
};

/** Runs `hostform schema [FILE|-]`. */
export const runSchema: Action<object, [file?: string]> = async (terminal, project, _, name = SCHEMA_FILE) => {
  if (name === "-") {
    terminal.out(await editorSchema());
    return 0;
  }
  const changed = await writeSchema(path.resolve(project.source.dir, name));
  const shown = escapeLine(name);
  printResult(
    terminal,
    "schema",
    { written: changed ? [name] : [] },
    changed ? `Wrote ${shown}\n` : `${shown} is up to date\n`,
  );
  const comment = schemaComment(`./${shown}`);
  if (!terminal.json) say(terminal, `An editor finds it by the first line of a declaration: ${comment}`);
  return 0;
};

/**
 * Writes the schema. Returns false if the file already contains the schema.
 * @throws HostformError if the file is not a schema of hostform.
 */
async function writeSchema(file: string): Promise<boolean> {
  const text = await editorSchema();
  const before = await orRefuse(readIfPresent(file), unwritable(file));
  if (before === text) return false;
  if (before !== undefined && !before.includes('"title": "hostform declaration"'))
    raise("usage/no_schema", { name: path.basename(file), file });
  await orRefuse(replace(file, text), unwritable(file));
  return true;
}

/** Asks for values without a flag. Without a terminal, uses defaults. */
async function ask(terminal: Terminal, source: ProjectSource, flags: InitFlags) {
  const isDecided = flags.project !== undefined || terminal.json;
  const question = async (text: string, fallback = "") => {
    const answer = isDecided ? "" : await terminal.ask(`${text}${fallback && ` [${fallback}]`}: `);
    return answer?.trim() || fallback;
  };
  const project = flags.project ?? (await question("Name of the project", nameFrom(source.dir)));
  const baseUrl = flags.baseUrl ?? (await question("Address of the API (empty: read HOSTING_BASE_URL at each run)"));
  const tokenEnv = flags.tokenEnv ?? (await question("Environment variable with the API token", "HOSTING_TOKEN"));
  const digits =
    flags.moneyScale ?? (await question("Decimal places of the API's amounts (2: it counts in cents; empty: unknown)"));
  const moneyScale = parseMoneyScale(digits);
  if (moneyScale === undefined && digits !== "") raise("usage/scale", { digits });
  return {
    project,
    ...(moneyScale !== undefined && { moneyScale }),
    ...(baseUrl !== "" && { baseUrl }),
    ...(tokenEnv !== "HOSTING_TOKEN" && { tokenEnv }),
  };
}

const unwritable = (file: string) => (reason: string) =>
  problem("usage/unwritable", { name: path.basename(file), file, reason });
