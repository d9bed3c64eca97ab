/** Guards the streams of the process. Imports nothing, because `main.ts` loads it for `version`. */

/**
 * Guards the results against a closed or full stream. A closed pipe (`hostform plan | head`) is no error. Any other failure is one line and
 * an exit code, and does not interrupt an apply.
 */
export function guardResults(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    guardMessages();
    process.stderr.write(`Error: Standard output cannot be written: ${error.message}. Redirect it to another place.\n`);
    failAtExit();
  });
}

/** Guards the messages. Only the exit code reports their failure. */
export function guardMessages(): void {
  process.stderr.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") failAtExit();
  });
}

/** Ends the process soon after its command. An abandoned lookup or connection would keep it alive. */
export function endSoon(): void {
  const end = () => (process.stdout.writableLength + process.stderr.writableLength > 0 ? endSoon() : process.exit());
  setTimeout(end, 100).unref();
}

function failAtExit(): void {
  process.once("exit", () => {
    process.exitCode ||= 1;
  });
}
