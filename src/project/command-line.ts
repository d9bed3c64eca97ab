import path from "node:path";
import { shellPath, shellWord } from "../core/model/index.ts";
import type { ProjectSource } from "./source.ts";
import type { ActiveStack } from "./stacks/stack.ts";

/**
 * A command of hostform that works on the same project as this run, to be copied into a shell in the same folder: with
 * `-C`, `-e`, `-f`, `--state` and `--insecure-http` as they were given; with the stack that was selected and its variables.
 * @param files of the command, from the working folder.
 */
export function commandLine(source: ProjectSource, command: string, files: readonly string[]): string {
  return ["hostform", command, ...projectFlags(source), ...files.map(shellPath)].join(" ");
}

/** The flags that make a command work on the same project as this run. */
export function projectFlags(source: ProjectSource): string[] {
  const { dir, files: declared, state, stateNamed, insecureHttp } = source;
  const near = (file: string) => path.relative(source.cwd, file) || ".";
  return [
    ...(source.stack === undefined
      ? dir === source.cwd
        ? []
        : ["-C", shellPath(near(dir))]
      : stackFlags(source.stack, near)),
    ...(source.environment === undefined ? [] : ["-e", shellWord(source.environment.name)]),
    ...declared.flatMap((file) => ["-f", shellPath(near(file))]),
    ...(stateNamed === true ? ["--state", shellPath(near(state))] : []),
    ...(insecureHttp ? ["--insecure-http"] : []),
  ];
}

/** The stack as it was synthesized: an app is not run again. */
function stackFlags({ name, run, outline }: ActiveStack, near: (file: string) => string): string[] {
  return [
    "--stack",
    shellPath(near(run.source)),
    ...(run.all.length > 1 ? ["--only", shellWord(name)] : []),
    ...(run.language === undefined ? [] : ["--language", run.language]),
    ...run.options.flatMap((option) => {
      if ("file" in option) return ["--var-file", shellPath(near(option.file))];
      // A secret is not repeated: without it, the command says that the variable has no value.
      if (outline.variables.get(option.name)?.sensitive === true) return [];
      return ["--var", shellWord(`${option.name}=${option.text}`)];
    }),
  ];
}
