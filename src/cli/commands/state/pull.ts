import { type Invocation, say } from "../../io.ts";
import { stateStore } from "../../project.ts";

/** `hostform state pull`: the text of the state as it is stored, byte for byte, secrets included. Takes no lock. */
export async function runStatePull(invocation: Invocation): Promise<number> {
  const text = await stateStore(invocation).pull();
  if (text === undefined) say(invocation, "There is no state yet: nothing was applied or imported.");
  else invocation.io.reveal(text);
  return 0;
}
