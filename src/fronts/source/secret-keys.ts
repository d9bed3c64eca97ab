import type { Mistakes } from "./mistakes.ts";
import type { Entry } from "./tree.ts";

const SECRET_KEY = /^(?:.*[_-])?(?:token|bearer|password|secret|api_?key|apikey|authorization|credentials?)$/i;
const WHERE_TOKENS_GO =
  "Put the token in an environment variable and name that (`token_env: BETA_TOKEN`), or in a file of mode 0600 (`token_file`). Revoke the token that stood here if the file was shared.";

/** True for keys under which people write a token. */
export function namesSecret(key: string): boolean {
  return SECRET_KEY.test(key);
}

/** Says that a token may not stand in a declaration, pointing at the key and never showing the value. */
export function reportSecret(entry: Entry, mistakes: Mistakes): void {
  mistakes.add(entry.keySpan, "config.secret", `"${entry.key}" would put an API token into the declaration`, {
    fix: WHERE_TOKENS_GO,
  });
}
