import path from "node:path";
import type { Invocation } from "./io.ts";

/** Characters that mean themselves to a shell, wherever they stand in a word. */
const PLAIN = /^[\p{L}\p{N}_./:@%+,=-]+$/u;

/** A word as a POSIX shell takes it literally: as it is where it may be, else in single quotes. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * A command of hostform that works on the same project as this run, to be copied into a shell in the same folder: with
 * `-C`, `-f`, `--state` and `--insecure-http` as they were given.
 * @param files of the command, from the working folder.
 */
export function commandLine({ io, options }: Invocation, command: string, files: readonly string[]): string {
  const { dir, files: declared, state, stateNamed, insecureHttp } = options;
  const near = (file: string) => path.relative(io.cwd, file) || ".";
  const flags = [
    ...(dir === io.cwd ? [] : ["-C", fileWord(near(dir))]),
    ...declared.flatMap((file) => ["-f", fileWord(near(file))]),
    ...(stateNamed === true ? ["--state", fileWord(near(state))] : []),
    ...(insecureHttp ? ["--insecure-http"] : []),
  ];
  return ["hostform", command, ...flags, ...files.map(fileWord)].join(" ");
}

/** A file that begins with a hyphen would be an option. */
function fileWord(file: string): string {
  return shellWord(file.startsWith("-") ? `./${file}` : file);
}
