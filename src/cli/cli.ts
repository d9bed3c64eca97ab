import { CommanderError } from "commander";
import { HostformError } from "../core/model/index.ts";
import { learnEnvironment } from "../project/redaction.ts";
import { guardIo } from "./guarded-io.ts";
import type { JsonOutputs } from "./json.ts";
import { problem } from "./messages.ts";
import { inOurSpelling } from "./options.ts";
import { buildProgram } from "./program.ts";
import type { GuardedIo, Io } from "./terminal.ts";

/** Loads the modules of a command only if needed. */
export const loadParts = () => import("./parts.ts");

/**
 * Runs the command line. Never throws: every failure becomes a message and an exit code.
 * @param args Arguments without node and script.
 * @returns 0 for success, 1 for an error, also in the usage, 2 for changes (`plan --detailed-exitcode`).
 */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const guarded = guardIo(io);
  learnEnvironment(guarded.redaction, io.env);
  try {
    return await runGuarded(args, guarded);
  } finally {
    guarded.flush();
  }
}

async function runGuarded(given: readonly string[], io: GuardedIo): Promise<number> {
  if (given[0] === "__complete") {
    const { printCandidates } = await import("./complete.ts");
    return printCandidates(given.slice(1), io);
  }
  let code = 0;
  const program = buildProgram(io, (exit) => {
    code = exit;
  });
  const args = inOurSpelling(given, program);
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // Arguments after `--` belong to another command.
    const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
    await report(error, own, io);
    return 1;
  }
}

/** Prints an error: as text on standard error, or with `--json` as JSON on standard output. */
async function report(thrown: unknown, args: readonly string[], io: GuardedIo): Promise<void> {
  const isJson = args.includes("--json");
  // After printing the help of a command group, Commander throws an error without a message.
  const isHelp = thrown instanceof CommanderError;
  if (isHelp && !isJson) return;
  const error = isHelp ? new HostformError([problem("usage/no_command", { command: "" })]) : thrown;
  const { diagnosticsOf } = await import("../project/failure.ts");
  const { diagnosticJson, renderDiagnostics } = await import("../report/diagnostics.ts");
  const { looksOf } = await import("./terminal.ts");
  const diagnostics = diagnosticsOf(error);
  const { errLook } = looksOf(io, !args.includes("--no-color"));
  if (isJson)
    io.document({
      format_version: "1.0",
      errored: true,
      diagnostics: diagnostics.map((one) => diagnosticJson(one, errLook.remedies)),
    } satisfies JsonOutputs["error"]);
  else io.err(renderDiagnostics(diagnostics, errLook));
  if (io.errIsRunner) {
    const { annotationsOf } = await import("../report/ci.ts");
    io.annotate(annotationsOf(diagnostics, { cwd: io.cwd, root: io.env.GITHUB_WORKSPACE }, errLook.remedies));
  }
  if (io.env.HOSTFORM_DEBUG && error instanceof Error && !(error instanceof HostformError)) io.err(`${error.stack}\n`);
}
