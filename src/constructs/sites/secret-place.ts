import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { App, type TerraformStack } from "cdktf";
import { isToken, shown } from "./checks.ts";

/**
 * Where a secret is written to when the API tells it, which it does once. Relative paths are relative to the folder in which
 * the app runs.
 */
export type SecretDestination =
  /** The whole content of a file, mode 0600. */
  | { readonly file: string; readonly outsideProject?: boolean }
  /** The line `NAME=…` of a file of such lines. */
  | { readonly envFile: { readonly path: string; readonly name: string }; readonly outsideProject?: boolean }
  /** A program, with its arguments, that reads the secret from its standard input. It runs in the stack's folder. */
  | { readonly command: readonly string[] };

/**
 * A {@link SecretDestination}, or `"state"`: the secret stays in the state, marked as sensitive. A file outside of the app's
 * folder, also by a symbolic link, needs `outsideProject: true`.
 */
export type SecretPlace = SecretDestination | "state";

/** `secret_output` as the bindings of a service and of a webhook take it. */
export interface SecretOutput {
  readonly file?: string;
  readonly envFile?: { readonly path: string; readonly name: string };
  readonly command?: string[];
  readonly outsideProject?: boolean;
}

const FORMS = ["file", "envFile", "command"] as const;

/**
 * The `secret_output` of a place; undefined for `"state"`.
 *
 * Terraform and hostform take a relative path from the stack's folder, `cdktf.out/stacks/NAME`, which is made anew and thrown
 * away: no place for a secret that is told once. So paths are taken from the folder in which the app runs.
 *
 * @throws Error for what is no place
 */
export function secretOutput(place: SecretPlace | undefined, stack: TerraformStack): SecretOutput | undefined {
  if (place === "state") return undefined;
  const forms = typeof place === "object" && place !== null ? FORMS.filter((form) => form in place) : [];
  if (place === undefined || forms.length !== 1 || Object.keys(place).some((key) => !isKeyOf(place, key))) {
    throw new Error(
      'secret: expected one of { file: "PATH" }, { envFile: { path: "PATH", name: "NAME" } }, { command: ["PROGRAM", …] } and "state"',
    );
  }
  if ("file" in place) return { file: fromStack(stack, "secret.file", place.file), ...outsideOf(place) };
  if ("envFile" in place) {
    const { path, name } = place.envFile;
    if (!isToken(name) && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new Error(`secret.envFile.name: ${shown(name)} is no name of a variable, such as HOOK_SECRET`);
    }
    return { envFile: { path: fromStack(stack, "secret.envFile.path", path), name }, ...outsideOf(place) };
  }
  if (!Array.isArray(place.command) || place.command.length === 0 || place.command[0] === "") {
    throw new Error("secret.command: expected a list: [PROGRAM, ARGUMENT, …]");
  }
  return { command: [...place.command] };
}

/** A command may do as it likes: nothing is to be allowed there. */
const isKeyOf = (place: SecretDestination, key: string) =>
  key === "outsideProject" ? !("command" in place) : FORMS.some((form) => form === key);

const outsideOf = ({ outsideProject }: { readonly outsideProject?: boolean }) =>
  outsideProject === undefined ? {} : { outsideProject };

/** A path as it is to be written so that it means the same from the stack's folder. */
function fromStack(stack: TerraformStack, property: string, path: string): string {
  if (typeof path !== "string" || path === "") throw new Error(`${property}: expected a path`);
  if (isToken(path) || path.includes("${") || isAbsolute(path)) return path;
  const app = App.of(stack);
  const folder = resolve(app.outdir, app.manifest.forStack(stack).workingDirectory);
  const written = relative(folder, resolve(path)).split(sep).join("/");
  // An output folder that lies elsewhere (that of a test, say): the way back would lead over the root.
  return isInside(folder) ? written : resolve(path);
}

const isInside = (folder: string): boolean => {
  const way = relative(resolve(), folder);
  return way !== ".." && !way.startsWith(join("..", sep)) && !isAbsolute(way);
};
