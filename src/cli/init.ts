/** `init`: asks for what a declaration needs, and writes a first one with its `.gitignore`; `schema`: what an editor knows of it. */
import path from "node:path";
import { create, exists, rename, replace } from "../core/files/index.ts";
import { fail } from "../core/model/index.ts";
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
import { orFail, readIfPresent } from "./files.ts";
import { type Action, printResult, say, type Terminal } from "./terminal.ts";

interface InitFlags {
  readonly project?: string;
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  readonly moneyScale?: string;
  readonly force?: boolean;
}

const DECLARATION = "hosting.yaml";
/** The schema of a project that has the package installed. */
const INSTALLED = `node_modules/hostform/schemas/${SCHEMA_FILE}`;

/** `hostform init`: writes a commented hosting.yaml and the lines of .gitignore that keep secrets out of Git. */
export const runInit: Action<InitFlags> = async (terminal, project, flags) => {
  const { dir } = project.source;
  const file = path.join(dir, DECLARATION);
  const before = exists(file);
  if (before && !flags.force) {
    fail("usage", `${DECLARATION} already exists`, {
      detail: file,
      remedies: ["Edit it, or pass --force to replace it; the old one is kept under another name."],
    });
  }
  const answers = await ask(terminal, project.source, flags);
  const installed = exists(path.join(dir, INSTALLED));
  const text = starter({ ...answers, schema: `./${installed ? INSTALLED : SCHEMA_FILE}` });
  checkStarter(DECLARATION, text, project.source.env);

  const written: string[] = [];
  const kept = before ? await setAside(file) : undefined;
  await orRefuse(file, async () => create(file, text, 0o666));
  written.push(DECLARATION);
  if (!installed && (await writeSchema(path.join(dir, SCHEMA_FILE)))) written.push(SCHEMA_FILE);
  const ignoring = path.join(dir, ".gitignore");
  const ignored = (await orRefuse(ignoring, () => readIfPresent(ignoring))) ?? "";
  const extended = gitignoreWith(ignored);
  if (extended !== ignored) {
    await orRefuse(ignoring, () => replace(ignoring, extended));
    written.push(".gitignore");
  }
  const json = { project: answers.project, written, ...(kept !== undefined && { kept }) };
  printResult(terminal, json, written.map((name) => `Wrote ${name}\n`).join(""));
  if (terminal.json) return 0;
  if (kept !== undefined) say(terminal, `The old ${DECLARATION} is now ${escapeLine(kept)}.`);
  const variable = answers.tokenEnv ?? "HOSTING_TOKEN";
  const token = project.source.env[variable] ? "" : `set ${variable} to an API token, `;
  say(terminal, `Next: ${token}uncomment what you need in ${DECLARATION}, then run \`hostform plan\`.`);
  return 0;
};

/** `hostform schema`: writes the editor's schema beside the declaration, or prints it. */
export const runSchema: Action<object, [file?: string]> = async (terminal, project, _, name = SCHEMA_FILE) => {
  if (name === "-") {
    terminal.out(await editorSchema());
    return 0;
  }
  const changed = await writeSchema(path.resolve(project.source.dir, name));
  const shown = escapeLine(name);
  printResult(terminal, { written: changed ? [name] : [] }, changed ? `Wrote ${shown}\n` : `${shown} is up to date\n`);
  const comment = schemaComment(`./${shown}`);
  if (!terminal.json) say(terminal, `An editor finds it by the first line of a declaration: ${comment}`);
  return 0;
};

/** Writes the schema, unless it is there already. @returns whether it wrote. @throws HostformError where the file is not a schema */
async function writeSchema(file: string): Promise<boolean> {
  const text = await editorSchema();
  const before = await orRefuse(file, () => readIfPresent(file));
  if (before === text) return false;
  if (before !== undefined && !before.includes('"title": "hostform declaration"')) {
    fail("usage", `${path.basename(file)} is there already, and is no schema of hostform`, {
      detail: file,
      remedies: ["Name another file: `hostform schema FILE`."],
    });
  }
  await orRefuse(file, () => replace(file, text));
  return true;
}

/** Asks for values that the flags leave open; without a terminal they keep their defaults. */
async function ask(terminal: Terminal, source: ProjectSource, flags: InitFlags) {
  const decided = flags.project !== undefined || terminal.json;
  const question = async (text: string, fallback: string) => {
    const answer = decided ? "" : await terminal.ask(`${text}${fallback === "" ? "" : ` [${fallback}]`}: `);
    return answer?.trim() || fallback;
  };
  const project = flags.project ?? (await question("Name of the project", nameFrom(source.dir)));
  const baseUrl =
    flags.baseUrl ?? (await question("Address of the API (empty: read HOSTING_BASE_URL at each run)", ""));
  const tokenEnv = flags.tokenEnv ?? (await question("Environment variable with the API token", "HOSTING_TOKEN"));
  const digits =
    flags.moneyScale ??
    (await question("Decimal places of the API's amounts (2: it counts in cents; empty: unknown)", ""));
  const moneyScale = parseMoneyScale(digits);
  if (moneyScale === undefined && digits !== "") {
    fail("usage", `${JSON.stringify(digits)} is not a number of decimal places`, {
      remedies: ["Give a number from 0 to 4, or nothing."],
    });
  }
  return {
    project,
    ...(moneyScale !== undefined && { moneyScale }),
    ...(baseUrl !== "" && { baseUrl }),
    ...(tokenEnv !== "HOSTING_TOKEN" && { tokenEnv }),
  };
}

/** Renames a file to the first free of NAME.bak, NAME.bak-2 …; nothing is ever overwritten. @returns the new name. */
async function setAside(file: string): Promise<string> {
  for (let count = 1; ; count++) {
    const name = `${path.basename(file)}.bak${count === 1 ? "" : `-${count}`}`;
    const target = path.join(path.dirname(file), name);
    if (exists(target)) continue;
    rename(file, target);
    return name;
  }
}

/** @throws HostformError `usage` with the reason why a file cannot be read or written: it may be a link or a pipe. */
const orRefuse = <T>(file: string, step: () => Promise<T>): Promise<T> =>
  orFail(step(), "usage", `${path.basename(file)} cannot be written`, {
    detail: file,
    remedies: ["Check that the folder exists and that you may write there, or name another with `-C`."],
  });
