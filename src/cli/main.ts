#!/usr/bin/env node
/**
 * The command line: arguments in, text and exit codes out. `program.ts` and `register/` list the commands; each
 * family has a file, loaded when it runs. Must not: decide anything about resources; print what `report` has not made.
 */
import { nodeTooOld } from "../core/model/runtime.ts";
import { endSoon, guardMessages, guardResults } from "./streams.ts";
import { versionAnswer } from "./version.ts";

guardResults();
const args = process.argv.slice(2);
const tooOld = nodeTooOld(process.versions.node);
const version = versionAnswer(args);
if (tooOld === undefined && version !== undefined) {
  // Scripts and package managers ask for it often: nothing more is loaded.
  process.stdout.write(`${version}\n`);
} else if (tooOld === undefined) {
  // Loaded only now: on an older Node it would fail in ways that say nothing.
  const [{ runCli }, { systemIo }] = await Promise.all([import("./cli.ts"), import("./system-io.ts")]);
  process.exitCode = await runCli(args, systemIo());
  endSoon();
} else {
  guardMessages();
  process.stderr.write(`${tooOld}\n`);
  process.exitCode = 1;
}
