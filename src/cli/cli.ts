import { CommanderError } from "commander";
import { HostformError } from "../core/model/index.ts";
import { diagnosticsOf } from "../project/failure.ts";
import { learnEnvironment } from "../project/redaction.ts";
import { guardIo } from "./guarded-io.ts";
import { withoutTerraformSpelling } from "./options.ts";
import { buildProgram } from "./program.ts";
import type { GuardedIo, Io } from "./terminal.ts";

/** Loads the parts of a command. No command needs them together. */
export const loadParts = () => import("./parts.ts");

/**
 * Runs the command line. Never throws: every failure becomes a message and an exit code.
 * @param args without node and script.
 * @returns 0 done, 1 an error (a usage error too), 2 changes (`plan --detailed-exitcode`).
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
  const args = withoutTerraformSpelling(given);
  let code = 0;
  // The arguments behind `--` are the line of another command.
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const json = own.includes("--json");
  const program = buildProgram(io, { usageErrors: !json, line: args }, (exit) => {
    code = exit;
  });
  if (args.length === 0) {
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      if (json) await report(usage(error), own, io);
      return 1;
    }
    await report(error, own, io);
    return 1;
  }
}

function usage({ message, code }: CommanderError): HostformError {
  const summary =
    code === "commander.help" ? "No command is given" : message.replace(/^error: /, "").replaceAll("\n", " ");
  return new HostformError([{ severity: "error", code: "usage", summary, remedies: ["See `hostform help`."] }]);
}

/** Says what went wrong: to people on standard error, to programs (`--json`) on standard output. */
async function report(error: unknown, args: readonly string[], io: GuardedIo): Promise<void> {
  const { diagnosticJson, renderDiagnostics } = await import("../report/diagnostics.ts");
  const { looksOf } = await import("./terminal.ts");
  const diagnostics = diagnosticsOf(error);
  const { errLook } = looksOf(io, !args.includes("--no-color"));
  if (args.includes("--json")) {
    io.document({ errored: true, diagnostics: diagnostics.map((one) => diagnosticJson(one, errLook.remedies)) });
  } else {
    io.err(renderDiagnostics(diagnostics, errLook));
  }
  if (io.errIsRunner) {
    const { annotationsOf } = await import("../report/ci.ts");
    io.annotate(annotationsOf(diagnostics, { cwd: io.cwd, root: io.env.GITHUB_WORKSPACE }, errLook.remedies));
  }
  if (io.env.HOSTFORM_DEBUG && error instanceof Error && !(error instanceof HostformError)) io.err(`${error.stack}\n`);
}
