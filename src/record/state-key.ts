import type { Diagnostic } from "../model/index.ts";
import { fail } from "../model/index.ts";

/** The two environment variables of which one holds the key of a state. */
export interface KeyVariables {
  readonly passphrase: string;
  readonly key: string;
}

/** Where the key of the state is. */
export const KEY_VARIABLES: KeyVariables = { passphrase: "HOSTFORM_STATE_PASSPHRASE", key: "HOSTFORM_STATE_KEY" };

/** Where the key is that takes its place, for `state rotate-key`. */
export const NEW_KEY_VARIABLES: KeyVariables = {
  passphrase: "HOSTFORM_STATE_NEW_PASSPHRASE",
  key: "HOSTFORM_STATE_NEW_KEY",
};

/** What a state is encrypted with: a passphrase that a key is derived from, or the key itself. */
export type StateKey =
  | { readonly from: "passphrase"; readonly variable: string; readonly passphrase: string }
  /** 32 bytes. */
  | { readonly from: "key"; readonly variable: string; readonly bytes: Buffer };

/** Of AES-256. */
const KEY_BYTES = 32;
/** The same limit as OpenTofu's: a derived key is no better than what it is derived from. */
const PASSPHRASE_CHARACTERS = 16;

const FIX_KEY = "Make one with `openssl rand -base64 32`.";

/**
 * The key that the environment holds; undefined when neither variable is set. An empty variable is an error: it is most
 * likely a secret that a CI job was not given, and a state written in the clear would be worse than a failed job.
 * @throws HostformError `state.key` naming the variable and lengths, never the value.
 */
export function readStateKey(
  env: Readonly<Record<string, string | undefined>>,
  variables: KeyVariables,
): StateKey | undefined {
  const [passphrase, key] = [env[variables.passphrase], env[variables.key]];
  if (passphrase !== undefined && key !== undefined) {
    refuse(`Both ${variables.passphrase} and ${variables.key} are set`, {
      detail: "A state is encrypted with one of them.",
      fix: `Set only one: ${variables.passphrase} for a passphrase, ${variables.key} for a key of ${KEY_BYTES} bytes.`,
    });
  }
  if (passphrase !== undefined) return parsePassphrase(passphrase, variables.passphrase);
  return key === undefined ? undefined : { from: "key", variable: variables.key, bytes: parseKey(key, variables.key) };
}

function parsePassphrase(passphrase: string, variable: string): StateKey {
  const length = [...passphrase].length;
  if (length === 0) refuseEmpty(variable);
  if (length < PASSPHRASE_CHARACTERS) {
    refuse(`The passphrase in ${variable} is too short`, {
      detail: `It has ${length} characters, at least ${PASSPHRASE_CHARACTERS} are needed.`,
      fix: "Take a long random one: `openssl rand -base64 24`.",
    });
  }
  return { from: "passphrase", variable, passphrase };
}

/** 64 hexadecimal digits, or base64 of either alphabet, padded or not. Space around it is ignored. */
function parseKey(text: string, variable: string): Buffer {
  const trimmed = text.trim();
  if (trimmed === "") refuseEmpty(variable);
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  if (!/^[\w+/-]+={0,2}$/.test(trimmed)) {
    refuse(`${variable} is neither base64 nor hexadecimal`, {
      detail: `It has ${trimmed.length} characters; a key of ${KEY_BYTES} bytes has 44 in base64, 64 in hexadecimal.`,
      fix: FIX_KEY,
    });
  }
  const bytes = Buffer.from(trimmed, "base64");
  if (bytes.length !== KEY_BYTES) {
    refuse(`The key in ${variable} has the wrong length`, {
      detail: /^[0-9a-f]{45,}$/i.test(trimmed)
        ? `It has ${trimmed.length} hexadecimal digits, ${KEY_BYTES * 2} are needed.`
        : `It has ${bytes.length} bytes, ${KEY_BYTES} are needed.`,
      fix: FIX_KEY,
    });
  }
  return bytes;
}

function refuseEmpty(variable: string): never {
  refuse(`${variable} is set, but empty`, {
    detail: "A CI job that is not given a secret has an empty variable in its place.",
    fix: "Give it its value, or unset it.",
  });
}

function refuse(summary: string, more: Pick<Diagnostic, "detail" | "fix">): never {
  fail("state.key", summary, more);
}
