import * as library from "cdktf";
import { TerraformStack, TerraformVariable } from "cdktf";
import type { Construct } from "constructs";
import { isToken, shown } from "./checks.ts";
import type { SecretPlace } from "./secret-place.ts";
import { refusal } from "./told-at.ts";

export interface PasswordOptions {
  /** What the variable is for, shown when Terraform asks for its value. */
  readonly description?: string;
}

/** How a site's password is given or made. There is no way to give it as a text: that would stand in `cdk.tf.json`. */
export class Password {
  /**
   * A password that is given (shared and WordPress hosting), from a variable of the stack: `TF_VAR_<name>` in the environment,
   * or `--var`. The variable is made unless the stack has it; it is sensitive and ephemeral, so its value is in no plan and no state.
   * Needs Terraform or OpenTofu 1.11, or hostform.
   *
   * @param name of the variable, the same in the whole stack: letters, digits and `_`
   * @throws Error for a name that cannot be one, and for another construct of that name in the stack
   */
  static fromVariable(scope: Construct, name: string, options: PasswordOptions = {}): Password {
    if (isToken(name) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw refusal(scope.node.path, `${shown(name)} is no name of a variable, such as acme_password`);
    }
    const stack = TerraformStack.of(scope);
    const there = stack.node.tryFindChild(name);
    if (there === undefined) return new Password(newVariable(stack, name, options).stringValue, undefined);
    if (there instanceof TerraformVariable) return Password.of(there);
    throw new Error(
      `[${scope.node.path}] ${there.node.path} is another construct: choose another name for the variable`,
    );
  }

  /**
   * A password from a variable of yours.
   * @throws Error unless it is sensitive and without a default, which would stand in `cdk.tf.json`
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
   * A password that the host makes (Root VPS, Virtual Desktop) and tells once.
   * @param place where it is written to; `"state"` keeps it in the state, marked as sensitive
   */
  static generated(place: SecretPlace): Password {
    return new Password(undefined, place);
  }

  private constructor(value: string | undefined, place: SecretPlace | undefined) {
    this.value = value;
    this.place = place;
  }

  /** A token that stands for the variable; undefined for a password that the host makes. */
  readonly value: string | undefined;
  /** Where a password goes that the host makes. */
  readonly place: SecretPlace | undefined;
}

/**
 * What a site was given for a password, when it is one: JavaScript, and a type that was asserted, let anything through.
 * @throws Error, without the value, for a text and for whatever else is no `Password`
 */
export function givenPassword(password: unknown): Password | undefined {
  if (password === undefined || password === null) return undefined;
  if (isPassword(password)) return password;
  const literal = typeof password === "string" && !isToken(password);
  throw new Error(
    `password: ${literal ? "a literal text would stand in clear text in cdk.tf.json. Give" : "give"} it with Password.fromVariable, Password.of or Password.generated.${literal ? " If this text is a secret in use, change it." : ""}`,
  );
}

/** Not by its class: two copies of this package may be at work in one program. What is in it is checked at synthesis. */
const isPassword = (given: unknown): given is Password =>
  typeof given === "object" && given !== null && "value" in given && "place" in given;

function newVariable(stack: TerraformStack, name: string, { description }: PasswordOptions): TerraformVariable {
  const variable = new TerraformVariable(stack, name, {
    type: "string",
    sensitive: true,
    nullable: false,
    ...(description !== undefined && { description }),
  });
  // Neither library knows the word, and Terraform has had it since 1.10; what takes the value needs 1.11 anyway.
  variable.addOverride("ephemeral", true);
  return variable;
}

/**
 * Says how a password that is given gets along with `cdktn`, which refuses what is write-only unless the app says that it
 * aims at Terraform 1.11 or later; what it says of that itself does not tell where.
 */
export function addWriteOnlyAdvice(construct: Construct): void {
  construct.node.addValidation({
    validate: () =>
      "ProviderFeature" in library && construct.node.tryGetContext("targetVersions") === undefined
        ? [
            'password: it needs Terraform 1.11. Say that you aim at it: new App({ context: { targetVersions: { terraform: ">=1.11.0" } } }), or "targetVersions" in cdktf.json',
          ]
        : [],
  });
}
