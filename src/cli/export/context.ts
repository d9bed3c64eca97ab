import type { DesiredResource, State } from "../../core/model/index.ts";
import type { TfValue } from "../../report/index.ts";
import type { Attributes } from "./value.ts";
import type { Variables } from "./variables.ts";

/** What the resources of a configuration are written with. */
export interface ResourceContext {
  readonly variables: Variables;
  attributesOf(type: string): Attributes | undefined;
  /** All of the declaration, by address. */
  readonly declared: ReadonlyMap<string, DesiredResource>;
  readonly state: State;
  /** Paths of secret_output mean the same to Terraform: it runs in the project's folder. */
  readonly inProject: boolean;
}

/** One declared resource with the values of its attributes. */
export interface WrittenInstance {
  readonly resource: DesiredResource;
  readonly values: ReadonlyMap<string, TfValue>;
}
