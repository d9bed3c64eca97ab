/** What `init` writes: a first declaration, and the lines of .gitignore that keep secrets out of Git. */
import path from "node:path";
import { stringify } from "yaml";
import { kinds } from "../core/kinds/index.ts";
import { HostformError, isError } from "../core/model/index.ts";
import { parseDeclaration } from "../fronts/yaml/index.ts";
import type { ProjectSource } from "./source.ts";

export { parseMoneyScale } from "../core/kinds/provider-settings.ts";

/** Name of the editor's schema beside the declaration. */
export const SCHEMA_FILE = "hosting.schema.json";

/** What an editor knows of a declaration: a JSON Schema (draft-07). */
export async function editorSchema(): Promise<string> {
  const { default: schema } = await import("../../schemas/hosting.schema.json", { with: { type: "json" } });
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** The comment by which an editor finds the schema. @param path of the schema, relative to the declaration */
export const schemaComment = (file: string): string => `# yaml-language-server: $schema=${file}`;

/** What a new declaration is made from. */
interface StarterParts {
  readonly project: string;
  readonly baseUrl?: string;
  readonly tokenEnv?: string;
  /** Digits of amounts behind the point. Absent: it is not known. */
  readonly moneyScale?: number;
  /** Path of the editor's schema, relative to the declaration. */
  readonly schema: string;
}

/**
 * The text of a first hosting.yaml: the project, its account, and below as comments an example of each kind. Kinds that
 * are written inside others stand in the example of those.
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

/** The hosting.yaml of an account that was adopted: its resources are in the files beside it. */
export function adoptedStarter(project: string): string {
  return `# \`hostform adopt\` wrote this from an account that was there already. The files beside it hold what is in the account.

# Part of the key under which services are ordered: do not change it after the first order.
${stringify({ project })}
# The API does not state the unit of amounts. If it counts in cents:
# providers:
#   default:
#     money_scale: 2

# What one run may do at most.
${stringify({ guards: { max_orders: 3, max_removals: 5 } })}`;
}

/** A project name out of a folder's. */
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

/** What must not get into Git: the state and what lies beside it (secrets, locks), and files with tokens. */
const IGNORED = ["hosting.tfstate*", ".hosting.tfstate.*", "errored*.tfstate", "*.token"];

/** The text of a .gitignore with the missing lines added at its end; the same text when none is missing. */
export function gitignoreWith(text: string): string {
  const present = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const missing = IGNORED.filter((line) => !present.has(line));
  if (missing.length === 0) return text;
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${gap}# hostform: state, locks and tokens hold secrets\n${missing.join("\n")}\n`;
}

/** Refuses answers that would not make a valid declaration, before anything is written. @throws HostformError */
export function checkStarter(name: string, text: string, env: ProjectSource["env"]): void {
  const { diagnostics } = parseDeclaration([{ path: name, text }], { kinds, env });
  const errors = diagnostics.filter(isError).map(({ range: _, ...diagnostic }) => diagnostic);
  if (errors.length > 0) throw new HostformError(errors);
}
