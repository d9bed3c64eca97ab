/** `init`: asks for what a declaration needs, and writes a first one with its `.gitignore`. */
import { access, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { VERSION } from "../core/api/version.ts";
import { type Kind, kinds } from "../core/kinds/index.ts";
import { parseMoneyScale } from "../core/kinds/provider-settings.ts";
import { errnoOf, fail, HostformError, isError } from "../core/model/index.ts";
import { parseDeclaration } from "../fronts/yaml/index.ts";
import type { ProjectSource } from "../project/source.ts";
import { escapeLine } from "../report/index.ts";
import { type Action, printJson, say, type Terminal } from "./terminal.ts";

interface InitFlags {
  readonly project?: string;
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  readonly moneyScale?: string;
  readonly force?: boolean;
}

const DECLARATION = "hosting.yaml";
const SCHEMA = "node_modules/hostform/schemas/hosting.schema.json";

/** `hostform init`: writes a commented hosting.yaml and the lines of .gitignore that keep secrets out of Git. */
export const runInit: Action<InitFlags> = async (terminal, project, flags) => {
  const { dir } = project.source;
  const file = path.join(dir, DECLARATION);
  const before = await exists(file);
  if (before && !flags.force) {
    fail("usage", `${DECLARATION} already exists`, {
      detail: file,
      remedies: ["Edit it, or pass --force to replace it; the old one is kept under another name."],
    });
  }
  const answers = await ask(terminal, project.source, flags);
  const local = await exists(path.join(dir, SCHEMA));
  const text = starter({ ...answers, kinds: [...kinds.values()], ...(local && { localSchema: `./${SCHEMA}` }) });
  checkText(project.source, text);

  const written: string[] = [];
  const kept = before ? await setAside(file) : undefined;
  await write(file, text);
  written.push(DECLARATION);
  const ignoring = path.join(dir, ".gitignore");
  const ignored = (await exists(ignoring)) ? await readFile(ignoring, "utf8") : "";
  const extended = gitignoreWith(ignored);
  if (extended !== ignored) {
    await writeFile(ignoring, extended);
    written.push(".gitignore");
  }
  if (terminal.json) {
    printJson(terminal, { project: answers.project, written, ...(kept !== undefined && { kept }) });
    return 0;
  }
  terminal.out(written.map((name) => `Wrote ${name}\n`).join(""));
  if (kept !== undefined) say(terminal, `The old ${DECLARATION} is now ${escapeLine(kept)}.`);
  const variable = answers.tokenEnv ?? "HOSTING_TOKEN";
  say(
    terminal,
    `Next: ${project.source.env[variable] ? "" : `set ${variable} to an API token, `}uncomment what you need in ${DECLARATION}, then run \`hostform plan\`.`,
  );
  return 0;
};

/** What the flags leave open is asked for when somebody is there, and otherwise left at its default. */
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

/** A project name out of a folder's. */
function nameFrom(dir: string): string {
  const name = path
    .basename(dir)
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[^A-Za-z]+|-+$/g, "");
  return name === "" ? "hosting" : name;
}

/** Answers that would not make a valid declaration are refused before anything is written, by the rules of the declaration. */
function checkText(source: ProjectSource, text: string): void {
  const { diagnostics } = parseDeclaration([{ path: DECLARATION, text }], { kinds, env: source.env });
  const errors = diagnostics.filter(isError).map(({ range: _, ...diagnostic }) => diagnostic);
  if (errors.length > 0) throw new HostformError(errors);
}

/** Renames a file to the first free of NAME.bak, NAME.bak-2 …; nothing is ever overwritten. @returns the new name. */
async function setAside(file: string): Promise<string> {
  for (let count = 1; ; count++) {
    const name = `${path.basename(file)}.bak${count === 1 ? "" : `-${count}`}`;
    const target = path.join(path.dirname(file), name);
    if (await exists(target)) continue;
    await rename(file, target);
    return name;
  }
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx" });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    fail("usage", `${path.basename(file)} cannot be written: ${errnoOf(error)}`, {
      detail: file,
      remedies: ["Check that the folder exists and that you may write there, or name another with `-C`."],
    });
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** The editor's schema for those who have no copy of the package in their project. */
const SCHEMA_URL = `https://unpkg.com/hostform@${VERSION}/schemas/hosting.schema.json`;

/** What a new declaration is made from. */
interface StarterParts {
  readonly project: string;
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  /** Digits of amounts behind the point. Absent: it is not known. */
  readonly moneyScale?: number;
  /** Path of the editor's schema, relative to the declaration. */
  readonly localSchema?: string;
  readonly kinds: readonly Kind[];
}

/**
 * The text of a first hosting.yaml: the project, its account, and below as comments an example of each kind. Kinds that
 * are written inside others stand in the example of those.
 */
export function starter({ project, baseUrl, tokenEnv, moneyScale, localSchema, kinds }: StarterParts): string {
  const account = {
    ...(baseUrl && { base_url: baseUrl }),
    ...(tokenEnv && { token_env: tokenEnv }),
    ...(moneyScale !== undefined && { money_scale: moneyScale }),
  };
  const unscaled = moneyScale !== undefined ? "" : `    # money_scale: 2 # ${SCALE_NOTE}\n`;
  const providers =
    Object.keys(account).length > 0
      ? `${stringify({ providers: { default: account } })}${unscaled}`
      : commented(
          `providers:\n  default:\n    base_url: https://api.example.com\n    token_env: HOSTING_TOKEN\n    money_scale: 2 # ${SCALE_NOTE}\n`,
        );
  const sections = kinds
    .filter((kind) => kind.nested === undefined)
    .toSorted((a, b) => Number(b.creation === "keyed") - Number(a.creation === "keyed"))
    .map((kind) => `# ${kind.summary}\n${commented(kind.example)}`);
  return [
    `# yaml-language-server: $schema=${localSchema ?? SCHEMA_URL}
#
# What this hosting account holds. \`hostform plan\` shows what differs, \`hostform apply\` changes the account to match.

# Part of the key under which services are ordered: do not change it after the first order.
${stringify({ project })}`,
    `# The account. Its API token comes from an environment variable or a file, never from here.
# Without this block: the address is HOSTING_BASE_URL, the token HOSTING_TOKEN.
${providers}`,
    "# An example of each kind. Remove the `# ` in front of what you need.\n",
    ...sections,
  ].join("\n");
}

const SCALE_NOTE = "the API counts in cents; without this, amounts are shown in the API's own unit";

function commented(yaml: string): string {
  return `${yaml.trimEnd().replace(/^/gm, "# ")}\n`;
}

/** What must not get into Git: the state and what lies beside it (secrets, locks), and files with tokens. */
const IGNORED = ["hosting.tfstate*", ".hosting.tfstate.*", "*.token"];

/** The text of a .gitignore with the missing lines added at its end; the same text when none is missing. */
export function gitignoreWith(text: string): string {
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = IGNORED.filter((line) => !present.has(line));
  if (missing.length === 0) return text;
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}# hostform: state, locks and tokens hold secrets\n${missing.join("\n")}\n`;
}
