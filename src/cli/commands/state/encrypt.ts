import { stateEncryption } from "../../encryption.ts";
import { type Invocation, printJson, say } from "../../io.ts";
import { resealState } from "../../recorded.ts";

/**
 * `hostform state encrypt`: encrypts the state and its backup with the key in the environment. What an earlier run left
 * in its journal is written into the state first.
 */
export async function runStateEncrypt(invocation: Invocation): Promise<number> {
  const key = stateEncryption(invocation).required();
  const { found, changed, backup } = await resealState(invocation, "state encrypt", { to: "sealed" });
  if (invocation.options.json) printJson(invocation, { encrypted: found, changed });
  else if (!found) {
    invocation.io.out(
      `There is no state yet. It is encrypted from its first write on, as long as ${key.variable} is set.\n`,
    );
  } else if (!changed) invocation.io.out("The state is encrypted already.\n");
  else {
    invocation.io.out(`The state is encrypted${backup ? ", and its backup with it" : ""}.\n`);
    say(
      invocation,
      `Keep the ${key.from}: without it nobody can read the state. Copies made earlier are still in the clear.`,
    );
  }
  return 0;
}
