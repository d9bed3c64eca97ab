#!/usr/bin/env node
/**
 * The command line: arguments in, text and exit codes out. `program.ts` and `register/` list the commands, `messages.ts` has their texts; the
 * file of a command is loaded when it runs. Must not: decide anything about resources, print what `report` has not rendered.
 */
import { nodeTooOld } from "../core/model/runtime.ts";
import { endSoon, guardMessages, guardResults } from "./streams.ts";
import { versionAnswer } from "./version.ts";

guardResults();
const args = process.argv.slice(2);
const tooOld = nodeTooOld(process.versions.node);
const version = versionAnswer(args);
if (tooOld === undefined && version !== undefined) {
  // Scripts and package managers ask for the version often.
  process.stdout.write(`${version}\n`);
} else if (tooOld === undefined) {
  // An older Node would fail here with an obscure error.
  const [{ runCli }, { systemIo }] = await Promise.all([import("./cli.ts"), import("./system-io.ts")]);
  process.exitCode = await runCli(args, systemIo());
  endSoon();
} else {
  guardMessages();
  process.stderr.write(`${tooOld}\n`);
  process.exitCode = 1;
}
