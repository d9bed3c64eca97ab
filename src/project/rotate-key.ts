import { fail, HostformError } from "../core/model/index.ts";
import {
  bytesOf,
  type Encryption,
  KEY_VARIABLES,
  NEW_KEY_VARIABLES,
  type Resealed,
  type StateKey,
} from "../core/record/index.ts";
import type { ProjectState } from "./state.ts";

/** Result of a key rotation. */
interface RotatedKey extends Omit<Resealed, "state"> {
  readonly old: StateKey;
  readonly key: StateKey;
  /** Environment variable with the new key, or with the command that prints it. */
  /** Key provider in an envelope of OpenTofu. */
  readonly provider: string | undefined;
  readonly variable: { readonly name: string; readonly isCommand: boolean };
}

/**
 * Encrypts the state and its backup with another key. The new key is in HOSTFORM_STATE_NEW_PASSPHRASE, HOSTFORM_STATE_NEW_KEY
 * or HOSTFORM_STATE_NEW_KEY_COMMAND.
 * @throws HostformError `usage` if both keys are equal; `state.key`.
 */
export async function rotateKey(state: ProjectState): Promise<RotatedKey> {
  const old = state.encryption().required();
  const encryption = state.encryption(NEW_KEY_VARIABLES);
  const key = encryption.required();
  if (await same(old, key)) {
    fail("usage", `${key.variable} and ${old.variable} hold the same ${key.from}`, {
      remedies: [`Set ${key.variable} to a new one.`],
    });
  }
  const isCommand = key.variable === NEW_KEY_VARIABLES.command;
  const variable = {
    name: KEY_VARIABLES[isCommand ? "command" : key.from === "key" ? "key" : "passphrase"],
    isCommand,
  };
  const rotated = await rotate(state, encryption);
  const { meta = {} } = (await encryption.recent()).header;
  return { ...rotated, old, key, variable, provider: Object.keys(meta as object)[0] };
}

async function same(one: StateKey, other: StateKey): Promise<boolean> {
  return one.from === "key"
    ? other.from === "key" && (await bytesOf(one)).equals(await bytesOf(other))
    : one.from === "passphrase" && other.from === "passphrase" && one.passphrase === other.passphrase;
}

/** Changes the key. If an earlier run stopped after its last write, only the new key opens the state. */
async function rotate(state: ProjectState, encryption: Encryption): Promise<Omit<Resealed, "state">> {
  try {
    return await state.reseal("state rotate-key", { to: "key", encryption });
  } catch (error) {
    if (!(error instanceof HostformError) || error.diagnostics[0]?.code !== "state.key") throw error;
    const opened = await state
      .store(encryption)
      .open({ write: false, command: "read", timeoutMs: 0 })
      .catch(() => undefined);
    if (opened === undefined) throw error;
    await opened.close();
    return { found: true, changed: false, backup: false };
  }
}
