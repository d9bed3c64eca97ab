/** Guards the streams of the process. Imports nothing, because `main.ts` loads it even for `version`. */

/**
 * Handles errors of standard output. A closed pipe (`hostform plan | head`) is no error. Any other failure prints one line
 * and sets the exit code, but does not interrupt an apply.
 */
export function guardResults(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    guardMessages();
    process.stderr.write(`Error: Standard output cannot be written: ${error.message}. Redirect it to another place.\n`);
    failAtExit();
  });
}

/** Handles errors of standard error. Only the exit code can report these. */
export function guardMessages(): void {
  process.stderr.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code !== "EPIPE") failAtExit();
  });
}

/** Ends the process soon after its command. Otherwise an abandoned lookup or connection would keep it alive. */
export function endSoon(): void {
  const end = () => (process.stdout.writableLength + process.stderr.writableLength > 0 ? endSoon() : process.exit());
  setTimeout(end, 100).unref();
}

function failAtExit(): void {
  process.once("exit", () => {
    process.exitCode ||= 1;
  });
}
