#!/usr/bin/env node
/**
 * The command line: arguments in, text and exit codes out. `program.ts` and `register/` define the commands, and
 * `messages.ts` contains their texts. The module of a command is loaded when the command runs. Must not: decide anything
 * about resources, or print anything that `report` did not render.
 */
import { nodeTooOld } from "../core/model/runtime.ts";
import { endSoon, guardMessages, guardResults } from "./streams.ts";
import { versionAnswer } from "./version.ts";

guardResults();
const args = process.argv.slice(2);
const tooOld = nodeTooOld(process.versions.node);
const version = versionAnswer(args);
if (tooOld === undefined && version !== undefined) {
  // Scripts and package managers often request the version, so answer before loading other modules.
  process.stdout.write(`${version}\n`);
} else if (tooOld === undefined) {
  // In an older Node version, these modules would fail with a confusing error.
  const [{ runCli }, { systemIo }] = await Promise.all([import("./cli.ts"), import("./system-io.ts")]);
  process.exitCode = await runCli(args, systemIo());
  endSoon();
} else {
  guardMessages();
  process.stderr.write(`${tooOld}\n`);
  process.exitCode = 1;
}
