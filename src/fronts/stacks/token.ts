import { looksLikeToken, type Schema, type Value } from "../../core/model/index.ts";
import type { Entry } from "../source/tree.ts";
import { compile } from "./compile.ts";
import { checkNames, type Declared } from "./references.ts";
import type { Surroundings } from "./surroundings.ts";

/** What configures a provider, as far as it can be known before the account is asked. */
export interface Around {
  readonly schema: Schema;
  readonly surroundings: Surroundings;
  readonly declared: Declared;
  /** Where a relative path begins: the folder in which Terraform would run. */
  readonly folder: string;
}

/** Whether something is written there; null is how the libraries say that it is not. */
export const isGiven = (entry: Entry | undefined) =>
  entry !== undefined && (entry.value.form !== "leaf" || entry.value.value !== null);

export const WHERE_TOKENS_GO =
  'Leave `token` out and set HOSTING_TOKEN; or name a variable of the environment (`"token_env": "BETA_TOKEN"`) or a file of mode 0600 (`token_file`).';

/**
 * The variable of the environment that holds the token of a provider. A token itself never becomes a part of what is
 * declared: `token` can only be a variable of the stack whose value comes from the environment.
 * @returns undefined where there is none, or after a mistake.
 */
export function tokenVariable(entry: Entry, { surroundings, declared }: Around): string | undefined {
  if (!isGiven(entry)) return undefined;
  const { diags } = declared;
  const compiled = compile(entry.value, diags, { detail: "The expression is not repeated here." });
  if (
    compiled === undefined ||
    !checkNames(compiled, declared, {}, { detail: "The expression is not repeated here." })
  ) {
    return undefined;
  }
  const [only, ...others] = compiled.traversals;
  if (only === undefined) {
    diags.add(entry.keySpan, "config.secret", '"token" puts an API token into the stack', {
      fix: `${WHERE_TOKENS_GO} Revoke the token that stood here if the file was shared.`,
    });
    return undefined;
  }
  const variable = only.root === "var" ? surroundings.variables.get(String(only.steps[0])) : undefined;
  const lone = others.length === 0 && compiled.json === `\${${only.text}}` && only.steps.length === 1;
  if (variable === undefined || !lone) {
    diags.add(entry.keySpan, "config.unsupported", "`token` can only be a variable of the stack, as it is", {
      fix: `Write \`"token": "\${var.NAME}"\` and set TF_VAR_NAME. ${WHERE_TOKENS_GO}`,
    });
    return undefined;
  }
  if (variable.value.content === null) return undefined;
  if (variable.from?.startsWith("TF_VAR_")) return variable.from;
  // Its value is missing, which is reported.
  if (typeof variable.value.content === "symbol") return undefined;
  const where = variable.from === undefined ? "the default of the variable, in the stack itself" : variable.from;
  diags.add(entry.keySpan, "config.secret", `The API token comes from ${where}`, {
    detail:
      "hostform takes it from the environment or from a file alone, so that it stands in no list of processes and no file of the stack.",
    fix: `Set TF_VAR_${variable.name} in its place. ${WHERE_TOKENS_GO}`,
  });
  return undefined;
}

/** A token in the place of its variable's name, or inside the address. */
export function holdsToken(key: string, value: Value): boolean {
  if (typeof value !== "string") return false;
  return key === "base_url" ? /^[^/]*\/\/[^/]*@/.test(value) : looksLikeToken(value, key === "token_env");
}
