import { Encryption, KEY_VARIABLES, type KeyVariables, readStateKey } from "../record/index.ts";
import type { Invocation } from "./io.ts";

/**
 * The encryption of the state, with the key that the environment holds; without one, it seals and opens nothing.
 * @throws HostformError `state.key` for a key that cannot be one.
 */
export function stateEncryption({ io }: Pick<Invocation, "io">, variables: KeyVariables = KEY_VARIABLES): Encryption {
  return new Encryption({ key: readStateKey(io.env, variables), variables });
}
