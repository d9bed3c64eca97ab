import type { Kinds } from "../../core/kinds/kind.ts";
import type { Json, Schema, Value } from "../../core/model/index.ts";

/** What there is to be declared. */
export interface Catalogue {
  readonly kinds: Kinds;
  /** The schemas of Terraform's provider, which a synthesized stack is written for. */
  readonly schemas: {
    resource(type: string): Schema | undefined;
    data(type: string): Schema | undefined;
    readonly provider: Schema;
  };
}

/** A value that somebody gave for a variable. */
export interface GivenVariable {
  readonly name: string;
  /** `-var`, `TF_VAR_name`, or the name of the file that it stands in. */
  readonly from: string;
  /** A text, to be read as the variable's type asks for; or a JSON value of a file. */
  readonly value: { readonly text: string } | { readonly json: Json };
}

export interface StackOptions extends Catalogue {
  /** Of it only HOSTFORM_PROJECT is read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In the order of their precedence: later ones win. */
  readonly variables: readonly GivenVariable[];
  /** The outputs of `data.terraform_remote_state.NAME`, by NAME; they or parts of them may be unknown. */
  readonly siblings: ReadonlyMap<string, Value>;
  /** Their types, as state files write them: by NAME, then by the output's name. Where none is given, what the value shows. */
  readonly siblingTypes?: ReadonlyMap<string, Readonly<Record<string, Json>>>;
  /** The stack's working folder, to which relative paths in it are relative: where Terraform would run. */
  readonly folder: string;
}
