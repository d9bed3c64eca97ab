import type { IConstruct } from "constructs";

/** Does what may fail, and tells an error with the path of the construct, as those of the validation at synthesis are told. */
export function toldAt<T>(construct: IConstruct, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw refusal(construct.node.path, error instanceof Error ? error.message : String(error), error);
  }
}

/** An error that names the construct. */
export const refusal = (path: string, message: string, cause?: unknown): Error =>
  new Error(`[${path}] ${message}`, cause === undefined ? undefined : { cause });
