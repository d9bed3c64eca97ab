/** A control whose words are written down, for sessions. */
import type { Recorder } from "../record/recorder.ts";
import type { World } from "../world.ts";
import type { Control } from "./control.ts";

/**
 * What each function is to a recording. `change`: it makes a difference to the answers that follow, so it is a step.
 * `look`: it makes none. A function that is new has to be put here.
 */
const WORDS: Readonly<Record<keyof Control, "change" | "look">> = {
  state: "look",
  list: "look",
  get: "look",
  change: "change",
  remove: "change",
  create: "change",
  seedServices: "change",
  payInvoice: "change",
  provisionService: "change",
  cancelInvoice: "change",
  suspendService: "change",
  unsuspendService: "change",
  terminateService: "change",
  offerTransfer: "change",
  acceptTransfer: "change",
  declineTransfer: "change",
  setMigrationCredentials: "change",
  submitMigration: "change",
  completeMigration: "change",
  rotateSecret: "change",
  // Deliveries are not repeated with a session, and the API does not report them.
  trigger: "look",
  replayDelivery: "look",
  settled: "look",
  clock: "look",
  freezeClock: "change",
  resumeClock: "change",
  advanceClock: "change",
  upcoming: "look",
  rates: "look",
  requests: "look",
  verifyRequests: "look",
  invariants: "look",
  clearRequests: "look",
  addFault: "change",
  faults: "look",
  clearFaults: "change",
  snapshot: "look",
  restore: "change",
  session: "look",
  reset: "change",
};

/** Whether the word may stand in a session. */
export function isChange(name: string): name is keyof Control {
  return Object.hasOwn(WORDS, name) && WORDS[name as keyof Control] === "change";
}

type Word = (...args: unknown[]) => unknown;

/** The same control, with each change written down as a step of the session, and what was refused as refused. */
export function recordedControl(control: Control, { clock }: World, recorder: Recorder): Control {
  const recorded: Record<string, Word> = {};
  for (const [name, word] of Object.entries(control) as [string, Word][]) {
    recorded[name] = isChange(name) ? written(name, word) : word;
  }
  return recorded as unknown as Control;

  function written(name: string, word: Word): Word {
    return (...args) => {
      const step = recorder.begin();
      const [at, kept] = [clock.instant(), structuredClone(masked(name, args))];
      let refused: string | undefined;
      try {
        return word(...args);
      } catch (error) {
        refused = error instanceof Error ? error.message : String(error);
        throw error;
      } finally {
        step.control({
          at,
          name,
          args: kept,
          ...(refused !== undefined && { refused }),
          // Nothing is left of the offset that `at` was reckoned with.
          ...(name === "reset" && { to: clock.instant() }),
        });
      }
    };
  }
}

/** The arguments without what is a secret by its place, not by its name. */
function masked(name: string, args: unknown[]): unknown[] {
  const [collection, id, fields] = args;
  if (name !== "change" || collection !== "tokens" || typeof fields !== "object" || fields === null) return args;
  return [collection, id, "value" in fields ? { ...fields, value: `stand-in-for-token-${id}` } : fields];
}
