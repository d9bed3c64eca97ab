import { stringify } from "yaml";
import { VERSION } from "../../core/api/version.ts";
import type { Kind } from "../../core/kinds/index.ts";

/** The editor's schema for those who have no copy of the package in their project. */
export const SCHEMA_URL = `https://unpkg.com/hostform@${VERSION}/schemas/hosting.schema.json`;

/** What a new declaration is made from. */
export interface StarterParts {
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
# What this hosting account is to hold. \`hostform plan\` shows what differs, \`hostform apply\` makes it so.

# Part of the key under which services are ordered: do not change it once something was.
${stringify({ project })}`,
    `# The account. Its API token comes from an environment variable or a file, never from here.
# Left out: the address is HOSTING_BASE_URL, the token HOSTING_TOKEN.
${providers}`,
    "# Below, an example of each kind. Remove the `# ` in front of what you need.\n",
    ...sections,
  ].join("\n");
}

const SCALE_NOTE = "amounts of this host are cents; without it they are shown in the API's own unit";

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
