import { fail } from "../model/index.ts";
import type { StateKey } from "./state-key.ts";

/** The variable that lets a state in the clear be used although there is a key. */
export const ALLOW_UNENCRYPTED = "HOSTFORM_STATE_ALLOW_UNENCRYPTED";

/** @throws HostformError `state.unencrypted`, always. */
export function refuseClearState({ variable }: StateKey, name: string): never {
  fail("state.unencrypted", `${variable} is set, but the state is not encrypted`, {
    detail: `Nothing proves that ${name} is yours: anyone who can write to that place can have written it.`,
    fix: `If it was encrypted before, someone replaced it: restore it from a backup. If it never was: \`hostform state encrypt\`. To use it in the clear for now: ${ALLOW_UNENCRYPTED}=1.`,
  });
}

/**
 * @param key undefined beside an encrypted state, where no journal in the clear is ever right.
 * @param held what the journal holds.
 * @throws HostformError `state.unencrypted`, always.
 */
export function refuseClearJournal(key: StateKey | undefined, name: string, held: string): never {
  const summary =
    key === undefined
      ? "The state is encrypted, but the journal beside it is not"
      : `${key.variable} is set, but the journal beside the state is not encrypted`;
  fail("state.unencrypted", summary, {
    detail: `Nothing proves that ${name} is yours: anyone who can write to that place can have written it. It holds: ${held}.`,
    fix:
      key === undefined
        ? "hostform never writes one there. Find out where it comes from, and move it away. Then run plan."
        : `If a run without the key left it: \`hostform state encrypt\` takes it into the state. If not, move it away. To use it in the clear for now: ${ALLOW_UNENCRYPTED}=1.`,
  });
}
