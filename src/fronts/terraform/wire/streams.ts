import { writeSync } from "node:fs";
import process from "node:process";

/**
 * The streams of a process that Terraform started. The first line of stdout is the handshake; anything more there would
 * stop Terraform from reading. What goes to stderr is Terraform's log, or is shown when the process dies.
 */
const STDOUT = 1;
const STDERR = 2;

/** One line to stdout: the handshake, or what a person asked for. Written when it returns. */
export function printLine(line: string): void {
  writeSync(STDOUT, `${line}\n`);
}

/** To stderr, at once: the process may be about to end. A pipe that nobody reads or that is full is no reason to fail. */
export function complain(text: string): void {
  try {
    writeSync(STDERR, `${text}\n`);
  } catch {
    // Nobody is left to be told.
  }
}

/** From now on whatever a part of the program (or a dependency) writes to stdout or the console goes to stderr. */
export function keepStdoutClean(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
}
