/** Generates stops of a run at random moments, and records the requests around a stop. */
import { fc } from "./fc.ts";
import { type Sent, watchSockets } from "./sockets.ts";

/**
 * Moment of a stop: the number of a request, and the number of turns of the event loop after the request was passed to
 * its socket.
 */
export interface Moment {
  readonly at: number;
  readonly turns: number;
}

const turns = fc.integer({ min: 0, max: 8 });

/** Generates a moment within this number of requests. */
export const momentWithin = (requests: number) => ({ at: fc.integer({ min: 1, max: requests }), turns });

/** Generates the number of turns between a stop and a second stop. Undefined: no second stop. */
export const anotherStop = fc.option(turns, { nil: undefined });

/** Calls `act` after this number of turns of the event loop. */
async function after(count: number, act: () => void): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  act();
}

export interface Stopping {
  /** All sent requests, including requests after the run. */
  readonly sent: readonly Sent[];
  /** Number of requests that were passed to a socket before the stop. Undefined if the run ended before the stop. */
  readonly atStop: number | undefined;
  /** Ends the recording. Called when the run has ended. */
  end(): Promise<void>;
}

/** Stops a run against this server at a moment, and a second time `again` turns later. */
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
