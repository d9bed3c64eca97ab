#!/usr/bin/env node
/**
 * The command line: arguments in, text and exit codes out. `program.ts` and `register/` list the commands; each
 * family has a file, loaded when it runs. Must not: decide anything about resources; print what `report` has not made.
 */
import { nodeTooOld } from "../core/model/runtime.ts";

const tooOld = nodeTooOld(process.versions.node);
if (tooOld === undefined) {
  // Loaded only now: on an older Node it would fail in ways that say nothing.
  const [{ runCli }, { systemIo }] = await Promise.all([import("./cli.ts"), import("./system-io.ts")]);
  process.exitCode = await runCli(process.argv.slice(2), systemIo());
} else {
  process.stderr.write(`${tooOld}\n`);
  process.exitCode = 1;
}
