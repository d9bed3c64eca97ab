import { fail, HostformError } from "../../core/model/index.ts";
import { escapeLine } from "../../report/index.ts";
import { type Invocation, printJson, say } from "../io.ts";
import { stateStore } from "../project.ts";

const OF_THE_STATE = ["state.unreadable", "state.newer", "state.foreign", "state.unencrypted"];
const FENCED = "If its holder still runs, its next write is refused.";
const NOT_FENCED =
  "If its holder still runs: hostform does not write over a state that another run has changed since, and the server may refuse a lock that was freed. Another program may write over it; end it first.";

export interface ForceUnlockFlags {
  readonly yes?: boolean;
}

/** `hostform force-unlock [LOCK-ID]`: says who holds the state, asks, and frees it; only the lock with this id, if one is given. */
export async function runForceUnlock(invocation: Invocation, flags: ForceUnlockFlags, id?: string): Promise<number> {
  const { io, options } = invocation;
  const held = await whoHolds(invocation);
  if (held === undefined) {
    if (options.json) printJson(invocation, { unlocked: false, holder: null });
    else io.out("Nothing holds the state.\n");
    return 0;
  }
  if (!flags.yes) {
    if (options.json) fail("usage", "force-unlock --json cannot ask", { fix: "Pass --yes." });
    say(invocation, escapeLine(held));
    const answer = await io.ask('Free it all the same? Only "yes" is accepted: ');
    if (answer?.trim() !== "yes") {
      fail("apply.declined", answer === undefined ? "Nobody is there to ask" : "Not approved", {
        detail: "The state stays locked.",
        ...(answer === undefined && { fix: "Pass --yes to free it without being asked." }),
      });
    }
  }
  const { holder, alive, fenced } = await stateStore(invocation).forceUnlock(id);
  if (options.json) printJson(invocation, { unlocked: true, holder: holder ?? null, alive: alive ?? null });
  else {
    io.out("The state is free.\n");
    if (alive) say(invocation, "Its holder still runs; it will notice before its next write, and not write any more.");
    if (alive === undefined) say(invocation, fenced === true ? FENCED : NOT_FENCED);
  }
  return 0;
}

/** Who holds the lock, in the words in which any other command is refused. Taking it shows that nobody does. */
async function whoHolds(invocation: Invocation): Promise<string | undefined> {
  try {
    const store = await stateStore(invocation).open({ write: true, command: "force-unlock", timeoutMs: 0 });
    await store.close();
    return undefined;
  } catch (error) {
    if (!(error instanceof HostformError)) throw error;
    const [first] = error.diagnostics;
    if (first?.code === "state.locked") return first.detail ?? first.summary;
    // The lock was taken and freed again: what is wrong is the state itself.
    if (first !== undefined && OF_THE_STATE.includes(first.code)) return undefined;
    throw error;
  }
}
