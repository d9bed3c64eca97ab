/** Sources and destinations of a site's secrets. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import * as library from "cdktf";
import { App, TerraformStack, TerraformVariable } from "cdktf";
import type { Construct } from "constructs";
import { isToken, refusal, shown } from "./checks.ts";

/** Destination of a secret that the API returns only once. Relative paths start in the folder in which the app runs. */
export type SecretDestination =
  /** The secret is the complete content of a file with mode 0600. */
  | { readonly file: string; readonly outsideProject?: boolean }
  /** The secret is the line `NAME=…` of an env file. */
  | { readonly envFile: { readonly path: string; readonly name: string }; readonly outsideProject?: boolean }
  /** A program with arguments. It reads the secret from standard input, and runs in the stack's folder. */
  | { readonly command: readonly string[] };

/**
 * A {@link SecretDestination}, or `"state"`: the secret stays in the state as a sensitive value. A file outside the app's
 * folder, even through a symbolic link, needs `outsideProject: true`.
 */
export type SecretPlace = SecretDestination | "state";

/** `secret_output` in the format of the bindings of a service and a webhook. */
export interface SecretOutput {
  readonly file?: string;
  readonly envFile?: { readonly path: string; readonly name: string };
  readonly command?: string[];
  readonly outsideProject?: boolean;
}

const FORMS = ["file", "envFile", "command"] as const;

/**
 * Returns the `secret_output` for a destination. Undefined for `"state"`.
 *
 * Terraform and hostform read relative paths from the stack's folder, `cdktf.out/stacks/NAME`. This folder is deleted and
 * created again, so it must not contain a secret that is returned only once. Therefore relative paths are resolved here, from
 * the folder in which the app runs.
 *
 * @throws Error for an invalid destination
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
      throw new Error(`secret.envFile.name: ${shown(name)} is not the name of a variable, such as HOOK_SECRET`);
    }
    return { envFile: { path: fromStack(stack, "secret.envFile.path", path), name }, ...outsideOf(place) };
  }
  if (!Array.isArray(place.command) || place.command.length === 0 || place.command[0] === "") {
    throw new Error("secret.command: expected a list: [PROGRAM, ARGUMENT, …]");
  }
  return { command: [...place.command] };
}

/** Returns true for a valid key. A command has no `outsideProject`. */
const isKeyOf = (place: SecretDestination, key: string) =>
  key === "outsideProject" ? !("command" in place) : FORMS.some((form) => form === key);

const outsideOf = ({ outsideProject }: { readonly outsideProject?: boolean }) =>
  outsideProject === undefined ? {} : { outsideProject };

/** Returns the same path relative to the stack's folder. */
function fromStack(stack: TerraformStack, property: string, path: string): string {
  if (typeof path !== "string" || path === "") throw new Error(`${property}: expected a path`);
  if (isToken(path) || path.includes("${") || isAbsolute(path)) return path;
  const app = App.of(stack);
  const folder = resolve(app.outdir, app.manifest.forStack(stack).workingDirectory);
  const written = relative(folder, resolve(path)).split(sep).join("/");
  // If the output folder is elsewhere (in a test), use an absolute path.
  return isInside(folder) ? written : resolve(path);
}

const isInside = (folder: string): boolean => {
  const way = relative(resolve(), folder);
  return way !== ".." && !way.startsWith(join("..", sep)) && !isAbsolute(way);
};

export interface PasswordOptions {
  /** Purpose of the variable. Terraform shows it when it asks for the value. */
  readonly description?: string;
}

/** Password of a site. Cannot be a literal string, because `cdk.tf.json` would contain it. */
export class Password {
  /**
   * Returns a given password (shared and WordPress hosting) from a variable of the stack: `TF_VAR_<name>` in the environment,
   * or `--var`. Creates the variable unless the stack has it. The variable is sensitive and ephemeral, so no plan and no
   * state contains its value. Needs Terraform or OpenTofu 1.11, or hostform.
   *
   * @param name Name of the variable, unique in the stack: letters, digits and `_`
   * @throws Error for an invalid name, and if another construct in the stack has this name
   */
  static fromVariable(scope: Construct, name: string, options: PasswordOptions = {}): Password {
    if (isToken(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw refusal(scope.node.path, `${shown(name)} is not the name of a variable, such as acme_password`);
    }
    const stack = TerraformStack.of(scope);
    const there = stack.node.tryFindChild(name);
    if (there === undefined) return new Password(newVariable(stack, name, options).stringValue, undefined);
    if (there instanceof TerraformVariable) return Password.of(there);
    throw refusal(scope.node.path, `${there.node.path} is another construct: choose another name for the variable`);
  }

  /**
   * Returns a password from a variable of the program.
   * @throws Error unless the variable is sensitive and has no default, because `cdk.tf.json` would contain the default
   */
  static of(variable: TerraformVariable): Password {
    if (variable.sensitive !== true) throw refusal(variable.node.path, "the variable of a password must be sensitive");
    if (variable.default !== undefined) {
      throw refusal(
        variable.node.path,
        "the variable of a password must not have a default, which would stand in clear text in cdk.tf.json",
      );
    }
    return new Password(variable.stringValue, undefined);
  }

  /**
   * Returns a password that the host generates (Root VPS, Virtual Desktop) and returns only once.
   * @param place Destination of the password. `"state"` keeps it in the state as a sensitive value.
   */
  static generated(place: SecretPlace): Password {
    return new Password(undefined, place);
  }

  private constructor(value: string | undefined, place: SecretPlace | undefined) {
    this.value = value;
    this.place = place;
  }

  /** Token of the variable. Undefined for a password that the host generates. */
  readonly value: string | undefined;
  /** Destination of a password that the host generates. */
  readonly place: SecretPlace | undefined;
}

/**
 * Checks the password of a site, because JavaScript and type assertions allow any value.
 * @throws Error, without the value, if the value is not a `Password`
 */
export function givenPassword(password: unknown): Password | undefined {
  if (password === undefined || password === null) return undefined;
  if (isPassword(password)) return password;
  const literal = typeof password === "string" && !isToken(password);
  throw new Error(
    `password: ${literal ? "a literal text would stand in clear text in cdk.tf.json. Give" : "give"} it with Password.fromVariable, Password.of or Password.generated.${literal ? " If this text is a secret in use, change it." : ""}`,
  );
}

/** Checks the shape, not the class: a program may load two copies of this package. */
const isPassword = (given: unknown): given is Password =>
  typeof given === "object" && given !== null && "value" in given && "place" in given;

function newVariable(stack: TerraformStack, name: string, { description }: PasswordOptions): TerraformVariable {
  const variable = new TerraformVariable(stack, name, {
    type: "string",
    sensitive: true,
    nullable: false,
    ...(description !== undefined && { description }),
  });
  // `cdktf` and `cdktn` do not support this argument of Terraform 1.10.
  variable.addOverride("ephemeral", true);
  return variable;
}

/**
 * Adds advice for a given password. `cdktn` rejects write-only attributes unless the app targets Terraform 1.11 or later, and
 * its own message does not explain where to set this.
 */
export function addWriteOnlyAdvice(construct: Construct): void {
  construct.node.addValidation({
    validate: () =>
      "ProviderFeature" in library && construct.node.tryGetContext("targetVersions") === undefined
        ? [
            'password: it needs Terraform 1.11. Set it as the target: new App({ context: { targetVersions: { terraform: ">=1.11.0" } } }), or "targetVersions" in cdktf.json',
          ]
        : [],
  });
}
