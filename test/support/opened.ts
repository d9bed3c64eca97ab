import path from "node:path";
import { guardIo } from "../../src/cli/guarded-io.ts";
import { type Io, opened, type PrintOptions } from "../../src/cli/terminal.ts";
import { Project } from "../../src/project/project.ts";
import type { ProjectSource } from "../../src/project/source.ts";

/** The terminal and the project of a command without options, over the outside that a test gives. */
export function openedOn(io: Io, print: Partial<PrintOptions> = {}, source: Partial<ProjectSource> = {}) {
  const { env, cwd } = io;
  const place = { env, cwd, dir: cwd, files: [], state: path.join(cwd, "hosting.tfstate") };
  const { terminal, parts } = opened(
    guardIo(io),
    { json: false, quiet: false, verbose: false, color: false, ...print },
    { ...place, insecureHttp: false, lockTimeoutMs: 0, ...source },
  );
  return { terminal, project: new Project(parts) };
}
