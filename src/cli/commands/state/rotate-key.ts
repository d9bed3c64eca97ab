import { fail, HostformError } from "../../../core/model/index.ts";
import {
  bytesOf,
  type Encryption,
  KEY_VARIABLES,
  NEW_KEY_VARIABLES,
  type Resealed,
  type StateKey,
} from "../../../core/record/index.ts";
import { stateEncryption } from "../../encryption.ts";
import { type Invocation, printJson, say } from "../../io.ts";
import { stateStore } from "../../project.ts";
import { resealState } from "../../recorded.ts";

/**
 * `hostform state rotate-key`: encrypts the state and its backup with another key. The present one is where it always
 * is, the new one in HOSTFORM_STATE_NEW_PASSPHRASE or HOSTFORM_STATE_NEW_KEY.
 */
export async function runStateRotateKey(invocation: Invocation): Promise<number> {
  const old = stateEncryption(invocation).required();
  const encryption = stateEncryption(invocation, NEW_KEY_VARIABLES);
  const key = encryption.required();
  if (await same(old, key)) {
    fail("usage", `${key.variable} holds the ${key.from} that ${old.variable} holds`, { fix: "Set it to a new one." });
  }
  const { found, changed, backup } = await rotate(invocation, encryption);
  if (invocation.options.json) printJson(invocation, { encrypted: found, changed });
  else if (!found) invocation.io.out("There is no state yet: nothing is encrypted with the old key.\n");
  else {
    const already = changed ? "" : " already";
    const what = backup ? "The state and its backup are" : "The state is";
    invocation.io.out(`${what} encrypted with the new ${key.from}${already}.\n`);
    const variable = KEY_VARIABLES[key.variable === NEW_KEY_VARIABLES.command ? "command" : key.from];
    const unset = variable === old.variable ? "" : ` and unset ${old.variable}`;
    const value = variable === KEY_VARIABLES.command ? "the command that prints it" : "it";
    say(
      invocation,
      `From now on, set ${variable} to ${value}${unset}. Copies made earlier still need the old ${old.from}.`,
    );
  }
  return 0;
}

async function same(one: StateKey, other: StateKey): Promise<boolean> {
  return one.from === "key"
    ? other.from === "key" && (await bytesOf(one)).equals(await bytesOf(other))
    : other.from === "passphrase" && one.passphrase === other.passphrase;
}

/** A run that was stopped after its last write has rotated all the same: the old key does not fit then, the new one does. */
async function rotate(invocation: Invocation, encryption: Encryption): Promise<Omit<Resealed, "state">> {
  try {
    return await resealState(invocation, "state rotate-key", { to: "key", encryption });
  } catch (error) {
    if (!(error instanceof HostformError) || error.diagnostics[0]?.code !== "state.key") throw error;
    const reading = { write: false, command: "read", timeoutMs: 0 };
    const opened = await stateStore(invocation, encryption)
      .open(reading)
      .catch(() => undefined);
    if (opened === undefined) throw error;
    await opened.close();
    return { found: true, changed: false, backup: false };
  }
}
