/** Handles a stream of the process that cannot be written. Imports nothing: `main.ts` answers `version` with it. */

/**
 * Guards the results against a stream that is closed or full. A reader that went away (`hostform plan | head`) is no error.
 * Any other failure is reported in one line and by the exit code. It does not end an apply in the middle.
 */
export function guardResults(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    guardMessages();
    process.stderr.write(`Error: Standard output cannot be written: ${error.message}. Redirect it to another place.\n`);
    failAtExit();
  });
}

/** Does the same for messages. The exit code alone reports the failure: nothing else can be written. */
export function guardMessages(): void {
  process.stderr.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") failAtExit();
  });
}

/** Ends the process soon after its command: a name lookup or a connection that nobody waits for would keep it alive. */
export function endSoon(): void {
  const end = () => (process.stdout.writableLength + process.stderr.writableLength > 0 ? endSoon() : process.exit());
  setTimeout(end, 100).unref();
}

function failAtExit(): void {
  process.once("exit", () => {
    process.exitCode ||= 1;
  });
}
