import { CommanderError } from "commander";
import { HostformError } from "../model/index.ts";
import { diagnosticJson, renderDiagnostics } from "../report/index.ts";
import { type Io, looksOf } from "./io.ts";
import { buildProgram } from "./program.ts";

/**
 * Runs the command line. Never throws: every failure becomes a message and an exit code.
 * @param args without node and script.
 * @returns 0 done, 1 an error (a usage error too), 2 changes (`plan --detailed-exitcode`).
 */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = buildProgram(io, (exit) => {
    code = exit;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    report(error, args, io);
    return 1;
  }
}

/** Says what went wrong: to people on standard error, to programs (`--json`) on standard output. */
function report(error: unknown, args: readonly string[], io: Io): void {
  const known = error instanceof HostformError;
  const diagnostics = known ? error.diagnostics : [defect(error)];
  if (args.includes("--json")) {
    io.out(`${JSON.stringify({ errored: true, diagnostics: diagnostics.map(diagnosticJson) })}\n`);
  } else {
    io.err(renderDiagnostics(diagnostics, looksOf(io, !args.includes("--no-color")).errLook));
  }
  if (!known && io.env.HOSTFORM_DEBUG && error instanceof Error) io.err(`${error.stack}\n`);
}

function defect(error: unknown) {
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    severity: "error" as const,
    code: "internal" as const,
    summary: "hostform has failed in a way that was not foreseen",
    detail: words,
    fix: "Run the command again with HOSTFORM_DEBUG=1 and report the output.",
  };
}
