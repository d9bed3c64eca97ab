import type { ApplyEvent, Plan } from "../core/model/index.ts";
import { advanceStatus, progressLine, renderStatus, type Status, startStatus } from "../report/index.ts";
import type { Invocation } from "./io.ts";

const REPAINT_MS = 100;
const STILL_EVERY_MS = 10_000;
const INTERRUPTED =
  "\nInterrupted: nothing more is sent. What is under way is awaited, 30 seconds at most, and recorded. Ctrl-C again ends at once; what became of it is then not known.";

/**
 * Shows the progress of an apply on standard error: a line per event, and on a terminal below them a status area that is
 * repainted in place; elsewhere a line every ten seconds for what takes long. Says what a first Ctrl-C (`stop`) means.
 */
export async function showProgress<T>(
  invocation: Invocation,
  plan: Plan,
  stop: AbortSignal,
  work: (onEvent: (event: ApplyEvent) => void) => Promise<T>,
): Promise<T> {
  const { io, options, errLook } = invocation;
  if (options.quiet) return work(() => undefined);
  const live = io.errIsTerminal && !options.verbose && !io.env.CI && !io.env.TF_IN_AUTOMATION;
  let status: Status = startStatus(plan, io.clock.now());
  const area = live ? new StatusArea(invocation) : undefined;
  const line = (event: ApplyEvent) => {
    area?.erase();
    io.err(`${progressLine(event, errLook)}\n`);
  };
  const onEvent = (event: ApplyEvent) => {
    status = advanceStatus(status, event, io.clock.now());
    if (event.type !== "waiting") line(event);
    area?.paint(status);
  };
  const stopping = () => {
    area?.erase();
    io.err(`${INTERRUPTED}\n`);
    area?.paint(status);
  };
  stop.addEventListener("abort", stopping, { once: true });
  const tick = live ? () => area?.paint(status) : () => stillLines(status, io.clock.now(), line);
  const timer = setInterval(tick, live ? REPAINT_MS : STILL_EVERY_MS);
  try {
    return await work(onEvent);
  } finally {
    clearInterval(timer);
    stop.removeEventListener("abort", stopping);
    area?.erase();
  }
}

function stillLines(status: Status, now: number, line: (event: ApplyEvent) => void): void {
  for (const [address, { action, since }] of status.running) {
    if (now - since >= STILL_EVERY_MS) line({ type: "progress", address, action, seconds: (now - since) / 1000 });
  }
}

/** The lines at the bottom of the terminal that are erased and painted anew. */
class StatusArea {
  readonly #invocation: Invocation;
  #lines = 0;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  erase(): void {
    if (this.#lines > 0) this.#invocation.io.rewind(this.#lines);
    this.#lines = 0;
  }

  paint(status: Status): void {
    const { io, errLook } = this.#invocation;
    const text = renderStatus(status, io.clock.now(), errLook);
    this.erase();
    io.err(`${text}\n`);
    this.#lines = text.split("\n").length;
  }
}
