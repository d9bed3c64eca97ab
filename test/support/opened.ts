import path from "node:path";
import type { Io, PrintOptions } from "../../src/cli/terminal.ts";
import type { ProjectSource } from "../../src/project/source.ts";

type Parts = Pick<typeof import("../../src/cli/parts.ts"), "guardIo" | "opened" | "Project">;

/** Opens the terminal and the project of a command without options, with the `Io` of a test. */
export function openedOn(
  { guardIo, opened, Project }: Parts,
  io: Io,
  print: Partial<PrintOptions> = {},
  source: Partial<ProjectSource> = {},
) {
  const { env, cwd } = io;
  const place = { env, cwd, dir: cwd, files: [], state: path.join(cwd, "hosting.tfstate") };
  const { terminal, parts } = opened(
    guardIo(io),
    { json: false, quiet: false, verbose: false, color: false, ...print },
    { ...place, insecureHttp: false, lockTimeoutMs: 0, ...source },
  );
  return { terminal, project: new Project(parts) };
}
