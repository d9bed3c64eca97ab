/** Writes the files of a new project: a first declaration, and the lines of .gitignore that keep secrets out of git. */
import path from "node:path";
import { stringify } from "yaml";
import { kinds } from "../core/kinds/index.ts";
import { failWith, isError } from "../core/model/index.ts";
import { parseDeclaration } from "../fronts/yaml/index.ts";
import type { ProjectSource } from "./source.ts";

export { parseMoneyScale } from "../core/kinds/provider-settings.ts";

/** Name of the schema file for editors, beside the declaration. */
export const SCHEMA_FILE = "hosting.schema.json";

/** Returns the JSON Schema (draft-07) of a declaration for editors. */
export async function editorSchema(): Promise<string> {
  const { default: schema } = await import("../../schemas/hosting.schema.json", { with: { type: "json" } });
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/**
 * Returns the comment from which an editor finds the schema.
 * @param file Path of the schema, relative to the declaration.
 */
export const schemaComment = (file: string): string => `# yaml-language-server: $schema=${file}`;

interface StarterParts {
  readonly project: string;
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  /** Decimal places of amounts. Undefined if unknown. */
  readonly moneyScale?: number;
  /** Path of the editor's schema, relative to the declaration. */
  readonly schema: string;
}

/**
 * Returns a first hosting.yaml: project, account, and one commented example of each kind. The example of a kind includes its
 * nested kinds.
 */
export function starter({ project, baseUrl, tokenEnv, moneyScale, schema }: StarterParts): string {
  const account = {
    ...(baseUrl && { base_url: baseUrl }),
    ...(tokenEnv && { token_env: tokenEnv }),
    ...(moneyScale !== undefined && { money_scale: moneyScale }),
  };
  const unscaled = moneyScale !== undefined ? "" : `    # money_scale: 2 # ${SCALE_NOTE}\n`;
  const providers =
    Object.keys(account).length > 0
      ? stringify({ providers: { default: account } }).replace("  default:\n", (line) => line + unscaled)
      : commented(
          `providers:\n  default:\n    base_url: https://api.example.com\n    token_env: HOSTING_TOKEN\n    money_scale: 2 # ${SCALE_NOTE}\n`,
        );
  const sections = [...kinds.values()]
    .filter((kind) => kind.nested === undefined)
    .toSorted((a, b) => Number(b.creation === "keyed") - Number(a.creation === "keyed"))
    .map((kind) => `# ${kind.summary}\n${commented(kind.example)}`);
  return [
    `${schemaComment(schema)}
#
# The content of this hosting account. A plan shows the differences, an apply changes the account to match.

# Part of the key under which services are ordered: do not change it after the first order.
${stringify({ project })}`,
    `# The account. Its API token comes from an environment variable or a file, never from here.
# Without this block: the address is HOSTING_BASE_URL, the token HOSTING_TOKEN.
${providers}`,
    "# An example of each kind. Remove the `# ` in front of what you need.\n",
    ...sections,
  ].join("\n");
}

/** Returns the hosting.yaml of an adopted account. The resources are in other files of the folder. */
export function adoptedStarter(project: string): string {
  return `# hostform wrote this from an existing account. The files beside it declare the content of the account.

# Part of the key under which services are ordered: do not change it after the first order.
${stringify({ project })}
# The API does not state the unit of amounts. If it counts in cents:
# providers:
#   default:
#     money_scale: 2

# Limits of one run.
${stringify({ guards: { max_orders: 3, max_removals: 5 } })}`;
}

/** Derives a project name from the name of a folder. */
export function nameFrom(dir: string): string {
  const name = path
    .basename(dir)
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^[^A-Za-z]+|-+$/g, "");
  return name === "" ? "hosting" : name;
}

const SCALE_NOTE = "the API counts in cents; without this, amounts are shown in the API's own unit";

function commented(yaml: string): string {
  return `${yaml.trimEnd().replace(/^/gm, "# ")}\n`;
}

/** Patterns for .gitignore: the state and related files (secrets, locks), and files with tokens. */
const IGNORED = ["hosting.tfstate*", ".hosting.tfstate.*", "errored*.tfstate", "*.token"];

/** Adds the missing lines at the end of a .gitignore. */
export function gitignoreWith(text: string): string {
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = IGNORED.filter((line) => !present.has(line));
  if (missing.length === 0) return text;
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}# hostform: state, locks and tokens hold secrets\n${missing.join("\n")}\n`;
}

/** Rejects input that would make the declaration invalid. @throws HostformError */
export function checkStarter(name: string, text: string, env: ProjectSource["env"]): void {
  const { diagnostics } = parseDeclaration([{ path: name, text }], { kinds, env });
  const errors = diagnostics.filter(isError).map(({ range: _, ...diagnostic }) => diagnostic);
  failWith(errors);
}
