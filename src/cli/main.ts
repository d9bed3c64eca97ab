#!/usr/bin/env node
/**
 * The command line: arguments in, text and exit codes out. `program.ts` says which commands there are, `commands/` holds
 * one file each, loaded when it runs. Must not: decide anything about resources; print what `report` has not made.
 */
import { runCli } from "./cli.ts";
import { systemIo } from "./system-io.ts";

process.exitCode = await runCli(process.argv.slice(2), systemIo());
