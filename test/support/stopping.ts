/** Stops at any moment of a run: drawn, brought about, and what was on its way by then. */
import { fc } from "./fc.ts";
import { type Sent, watchSockets } from "./sockets.ts";

/** The request at which a run is stopped, and how many turns of the event loop after it was handed to its socket. */
export interface Moment {
  readonly at: number;
  readonly turns: number;
}

const turns = fc.integer({ min: 0, max: 8 });

/** Draws a moment among so many requests. */
export const momentWithin = (requests: number) => ({ at: fc.integer({ min: 1, max: requests }), turns });

/** Draws how many turns after a stop another one comes; undefined: it does not. */
export const anotherStop = fc.option(turns, { nil: undefined });

/** Does it after so many turns of the event loop. */
async function after(count: number, act: () => void): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  act();
}

export interface Stopping {
  /** All that was sent, also after the run. */
  readonly sent: readonly Sent[];
  /** How many had been handed to a socket at the stop; undefined: the run had ended by then. */
  readonly atStop: number | undefined;
  /** To be called when the run has ended. */
  end(): Promise<void>;
}

/** Stops a run against this server at a moment, and once more `again` turns later. */
export function stopAt(
  server: { readonly url: string },
  moment: Moment,
  stop: () => void,
  again?: number | undefined,
): Stopping {
  let running = true;
  let atStop: number | undefined;
  const stops: Promise<void>[] = [];
  const first = () => {
    if (!running) return;
    atStop = sent.length;
    stop();
    if (again !== undefined) stops.push(after(again, stop));
  };
  const sent = watchSockets(
    server,
    (count) => running && count === moment.at,
    () => void stops.push(after(moment.turns, first)),
  );
  return {
    sent,
    get atStop() {
      return atStop;
    },
    end: async () => {
      running = false;
      while (stops.length > 0) await stops.shift();
    },
  };
}
