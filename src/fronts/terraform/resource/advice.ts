import type { Kind } from "../../../core/kinds/kind.ts";
import { type Code, type Diagnostic, remedyText } from "../../../core/model/index.ts";

/**
 * What only hostform's command line and its YAML have. The lifecycle speaks their language; this front never does, so that
 * a fix with one of these is not this front's own. `hostform sandbox` is for everybody.
 */
export const OF_HOSTFORM =
  /\bhostform (?!sandbox\b)[a-z]|(?<![\w-])--[a-z]|\bdeclaration\b|\bproviders: |`[a-z_]+: |\{[a-z_]+: [A-Z{]/;

/** The mapping of a status word, as it stands in the provider block: an interpolation in a word would be one in HCL. */
const inProviderBlock = (fix: string): string =>
  fix.replace(
    /`providers: \{ \S+: \{ status_words: \{ ("(?:[^"\\]|\\.)*"): (\w+) \} \} \}`/,
    (_, word: string, phase: string) =>
      `\`status_words = { ${word.replace(/[$%](?=\{)/g, "$&$&")} = "${phase}" }\` in the provider block`,
  );

/** A text as HCL writes it: what begins an expression there is doubled. */
const hclText = (text: string): string => JSON.stringify(text).replace(/([$%])\{/g, "$1$1{");

/** How a request that made nothing leaves the state, and the note of it in the journal. */
const NOT_MADE = "`terraform plan` once, `terraform state rm` it, and apply again";

/** What people do about it with Terraform, where the lifecycle names a command of hostform's. */
const WAYS: Partial<Record<Code, (diagnostic: Diagnostic, kind: Kind) => string>> = {
  "plan.exists": ({ object = "ID" }, { type, creation }) =>
    creation === "blind"
      ? `If it was ordered and is to be managed here: \`terraform import ${type}.NAME '${object}'\`. To order it all the same: \`terraform apply\` once with HOSTFORM_STATE_HOME set to an empty folder. Otherwise remove this block.`
      : `Adopt it: \`terraform import ${type}.NAME '${object}'\`, or this block:\n\n\`import {\n  to = ${type}.NAME\n  id = ${hclText(object)}\n}\`\n\nIf Terraform has it marked as tainted: \`terraform untaint ${type}.NAME\`. If it is another's, declare something else.`,
  "plan.immutable": (_, kind) => {
    const anew =
      kind.quote === undefined
        ? "have it made anew with `replace_on_change = true`"
        : "order another one with `replace_on_change = true`: a new order, with its own invoice";
    const name = kind.creation === "keyed" ? " and a new `reference`" : "";
    return `Either put the old value back, or declare the other one as a resource of its own, or ${anew}${name}; deletion_policy says what becomes of the old one.`;
  },
  "plan.mismatch": ({ attribute: [name] = [] }, { type }) =>
    `Declare the \`${String(name)}\` that it has, or correct the id of the import. \`data "${type}s"\` shows those that there are.`,
  "plan.gone": (_, { creation }) =>
    creation === "keyed"
      ? "Remove the block, or order it anew on purpose: another `reference`, and `terraform apply -replace=ADDRESS`."
      : "Remove the block, or make it anew on purpose with `terraform apply -replace=ADDRESS`.",
  "plan.prevented": ({ remedies }, { suspendSteps }) => {
    const without =
      "Or a `removed` block with `destroy = false` (`terraform state rm`): Terraform stops managing it, and it goes on.";
    const fix = remedyText(remedies) ?? "";
    if (fix.includes("status_words"))
      return `${inProviderBlock(fix.replace(/ Or `hostform state rm .*$/, ""))} ${without}`;
    if (fix.startsWith("Wait")) return `Wait until it is live, and apply again. ${without}`;
    // Terraform does not tell whether the block is gone or is to be destroyed.
    return `To let go of it: put its block back if that is gone, with \`deletion_policy = "forget"\`${suspendSteps === undefined ? "" : ' (or "suspend")'}, apply, then remove it. ${without}`;
  },
  "plan.pending": ({ object, summary }, { creation, type, noun }) => {
    if (summary.startsWith("The API accepted")) {
      return `Apply again later: it is looked for first. If it was not made: ${NOT_MADE}.`;
    }
    if (summary.endsWith("cannot be removed")) {
      const look =
        creation === "blind"
          ? "Look in the dashboard"
          : "Put its block back and apply: that settles it. Or look in the dashboard";
      return `${look}, and \`terraform state rm\` it: what was made stays in the account.`;
    }
    if (summary.endsWith("was refused when it was sent again")) {
      return `Look in the dashboard. If it was not made: ${NOT_MADE}. If it was: \`terraform state rm\` it and import it.`;
    }
    if (creation === "blind") {
      return `Look in the dashboard. If it was ordered: \`terraform state rm\` it and import it. If it was not: ${NOT_MADE}.`;
    }
    if (object !== undefined) {
      const other = creation === "keyed" ? "another `reference`" : `another ${noun}`;
      return `If it is: \`terraform state rm\` it where the state has it, then \`terraform import ${type}.NAME '${object}'\`. If it is another's: declare ${other}.`;
    }
    return "`terraform untaint` it if it is tainted, then apply: what was made is adopted, and what was not is made. If several could be it: `terraform state rm` it and import the right one.";
  },
  "plan.lookalike": (_, { type }) =>
    `If it is: \`terraform import ${type}.NAME ID\`. To order another one, declare another \`reference\`.`,
  "plan.unreadable": ({ object = "ID" }, { type }) =>
    `If it is the declared one: \`terraform import ${type}.NAME '${object}'\`. If not, remove it, or import it as a resource of its own.`,
  "plan.unknown_status": ({ remedies }) => inProviderBlock(remedyText(remedies) ?? ""),
  "plan.catalogue": () => "Declare one of those that the data source `hosting_plans` shows.",
  "apply.replayed": ({ summary }) =>
    summary.endsWith("which is gone")
      ? "Declare another `reference` to order it."
      : "Declare another `reference` to order it, or import the one that is there.",
  "api.malformed": () => "Apply again: if it appears it is adopted, and if it does not it is made.",
};

/** The diagnostic of the lifecycle, or of this front, with what Terraform's users do about it. */
export function inTerraform(kind: Kind, diagnostic: Diagnostic): Diagnostic {
  const { address: _, ...others } = diagnostic;
  // The body of an earlier request holds values that the user may have marked as sensitive.
  const detail = diagnostic.detail?.replace(/ It was sent as it was then: [\s\S]*/, "");
  const told = detail === undefined ? others : { ...others, detail };
  const fix = remedyText(diagnostic.remedies);
  if (fix === undefined || !OF_HOSTFORM.test(fix)) return told;
  const way = WAYS[diagnostic.code];
  return way === undefined ? told : { ...told, remedies: [way(diagnostic, kind)] };
}

/** Turns of speech of the lifecycle, and what they are here. Long enough that no value of a user's is one. */
const TURNS: readonly (readonly [RegExp, string])[] = [
  [/(^|\. )hostform (?=does not|makes|never|no longer|speaks)/g, "$1The provider "],
  [/\bhostform (?=does not|makes|never|no longer|speaks)/g, "the provider "],
  [/\b(in|into|out of|from) the declaration\b/g, "$1 the configuration"],
  [
    /\{file: PATH\}, \{env_file: \{path: PATH, name: NAME\}\} and \{command: \[PROGRAM, ARGUMENT, …\]\}/g,
    "`file`, `env_file` and `command`",
  ],
  [/\bpass --insecure-http\b/g, "set `insecure_http = true`"],
  [/; see `--verbose` for the times of each request/g, ""],
];

/**
 * A diagnostic in the words of HCL: Terraform calls a declaration a configuration, has settings in place of flags, and says
 * `name = value`. The server's own words stay as they are.
 */
export function inConfigurationWords(diagnostic: Diagnostic): Diagnostic {
  const { summary, detail, remedies, code } = diagnostic;
  const ofServer = code.startsWith("api.");
  return {
    ...diagnostic,
    ...(!ofServer && { summary: turned(summary) }),
    ...(detail !== undefined && !ofServer && { detail: turned(detail) }),
    ...(remedies !== undefined && {
      remedies: remedies.map((one) => turned(one).replace(/`([a-z_]+): ([^`]+)`/g, assigned)),
    }),
  };
}

const turned = (text: string): string => TURNS.reduce((words, [from, to]) => words.replace(from, to), text);

/** `name = value`, with quotes where YAML needs none. */
function assigned(_: string, name: string, value: string): string {
  const bare = /^[A-Za-z]/.test(value) && value !== "true" && value !== "false";
  return `\`${name} = ${bare ? JSON.stringify(value) : value}\``;
}
