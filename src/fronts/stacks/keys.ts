import { type DiagnosticCollector, didYouMean, type Remark } from "../source/diagnostics.ts";
import { argumentsOf, type Block } from "./blocks.ts";

/** The keys of a block of Terraform's language, apart from those of schemas and of backends. */
export interface Keys {
  /** What is read, or passed over because it says nothing to hostform. */
  readonly known: readonly string[];
  /** What Terraform has there and hostform has not, and what to do instead. */
  readonly refused: Readonly<Record<string, string>>;
}

const INSTEAD = "Remove it, or apply the stack with Terraform.";
const IN_VALIDATION = "Check it with the `validation` of a variable, or in the program that synthesizes.";
const PROGRAMS = { connection: INSTEAD, provisioner: INSTEAD };
const MOVES = { ...PROGRAMS, identity: INSTEAD };
const META = ["count", "for_each", "depends_on", "provider", "lifecycle"];
const CHECKS = {
  precondition: IN_VALIDATION,
  postcondition: "Check it in the program that synthesizes, or apply the stack with Terraform.",
  replace_triggered_by: "To order a service anew there is `hostform plan --reorder ADDRESS`.",
};
/** Where the state can be kept. */
export const BACKENDS =
  "Use the backend `local`, `http` or `pg`, which both know; or apply this stack with Terraform alone. To bring the state there: `terraform init -migrate-state`.";

/**
 * Every key that Terraform's language has in a stack, by its block; `stack` is the file itself. The readers of the blocks go by
 * this table, so that what is not in it is an error, and a test holds what each may do in the hands of a stranger.
 */
export const KEYS = {
  stack: {
    known: [
      "terraform",
      "provider",
      "variable",
      "locals",
      "output",
      "resource",
      "data",
      "import",
      "moved",
      "removed",
    ] as const,
    refused: {
      module: "Write its resources into the stack itself, or apply the stack with Terraform.",
      check: INSTEAD,
      ephemeral: "`hostform sso` gives a panel's address; or apply the stack with Terraform.",
      action: INSTEAD,
      list: "Remove it.",
    },
  },
  terraform: {
    known: ["backend", "required_providers", "required_version", "provider_meta"],
    refused: { cloud: BACKENDS, experiments: "Apply this stack with Terraform, or remove the block." },
  },
  provider: { known: ["alias", "version"], refused: {} },
  variable: {
    known: ["type", "default", "description", "sensitive", "nullable", "ephemeral", "validation"] as const,
    refused: {},
  },
  "variable.validation": { known: ["condition", "error_message"], refused: {} },
  output: {
    known: ["value", "description", "sensitive", "depends_on", "ephemeral"],
    refused: { precondition: IN_VALIDATION },
  },
  resource: { known: META, refused: { ...PROGRAMS, dynamic: INSTEAD } },
  "resource.lifecycle": { known: ["prevent_destroy", "ignore_changes", "create_before_destroy"], refused: CHECKS },
  data: { known: META, refused: { ...PROGRAMS, dynamic: INSTEAD } },
  "data.lifecycle": { known: [], refused: CHECKS },
  "data.terraform_remote_state": {
    known: ["backend", "config", "workspace", "defaults", "depends_on", "provider"],
    refused: { count: INSTEAD, for_each: INSTEAD, lifecycle: INSTEAD },
  },
  import: { known: ["id", "to", "for_each", "provider"], refused: MOVES },
  moved: { known: ["from", "to"], refused: MOVES },
  removed: { known: ["from", "lifecycle"], refused: MOVES },
  "removed.lifecycle": { known: ["destroy"], refused: {} },
} satisfies Record<string, Keys>;

/**
 * Says which keys of a block mean nothing here.
 * @param missing of a key that neither Terraform nor hostform knows: `An output has no "x"`.
 */
export function checkKeys(
  { body }: Pick<Block, "body">,
  { known, refused }: Keys,
  missing: (key: string) => string,
  diags: DiagnosticCollector,
  remark: Remark = {},
): void {
  for (const { key, keySpan } of argumentsOf(body)) {
    if (known.includes(key)) continue;
    const fix = Object.hasOwn(refused, key) ? refused[key] : undefined;
    const summary =
      fix === undefined
        ? `${missing(`"${key.slice(0, 100)}"`)}.${didYouMean(diags.nearest(key, known))}`
        : `\`${key}\` is not supported in a stack`;
    const code = fix === undefined ? "config.unknown_key" : "config.unsupported";
    diags.add(keySpan, code, summary, { ...remark, ...(fix !== undefined && { fix }) });
  }
}
