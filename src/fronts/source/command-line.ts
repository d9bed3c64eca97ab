/** Builds commands of hostform for the project of this run. */
import path from "node:path";
import { shellPath, shellWord } from "../../core/model/index.ts";

/** The options that select a project. Paths are absolute. */
interface Selection {
  readonly cwd: string;
  readonly dir: string;
  readonly files: readonly string[];
  readonly environment?: { readonly name: string };
  readonly state: string;
  readonly stateNamed?: boolean;
  readonly insecureHttp: boolean;
  readonly stack?: {
    readonly name: string;
    readonly outline: { readonly variables: ReadonlyMap<string, { readonly sensitive: boolean }> };
    readonly run: {
      readonly source: string;
      readonly all: readonly unknown[];
      readonly language?: string;
      readonly options: readonly ({ readonly name: string; readonly text: string } | { readonly file: string })[];
    };
  };
}

/**
 * Returns a command that the user can copy into a shell in the same folder.
 * @param files Arguments, relative to the working folder.
 */
export function commandLine(source: Selection, command: string, files: readonly string[]): string {
  return ["hostform", command, ...projectFlags(source), ...files.map(shellPath)].join(" ");
}

/** Returns the flags that select a project in every command. */
export function projectFlags(source: Selection): string[] {
  const { dir, cwd, stack, environment } = source;
  const near = (file: string) => shellPath(path.relative(cwd, file) || ".");
  const folder = dir === cwd ? [] : ["-C", near(dir)];
  return [
    ...(stack === undefined ? folder : stackFlags(stack, near)),
    ...(environment === undefined ? [] : ["-e", shellWord(environment.name)]),
    ...source.files.flatMap((file) => ["-f", near(file)]),
    ...(source.stateNamed === true ? ["--state", near(source.state)] : []),
    ...(source.insecureHttp ? ["--insecure-http"] : []),
  ];
}

/** Returns the flags of a stack. Uses its output folder, so that the command does not run the app. */
function stackFlags({ name, run, outline }: NonNullable<Selection["stack"]>, near: (file: string) => string): string[] {
  return [
    "--stack",
    near(run.source),
    ...(run.all.length > 1 ? ["--only", shellWord(name)] : []),
    ...(run.language === undefined ? [] : ["--language", run.language]),
    ...run.options.flatMap((option) => {
      if ("file" in option) return ["--var-file", near(option.file)];
      // Omit secrets. The command then asks for the value.
      if (outline.variables.get(option.name)?.sensitive === true) return [];
      return ["--var", shellWord(`${option.name}=${option.text}`)];
    }),
  ];
}
