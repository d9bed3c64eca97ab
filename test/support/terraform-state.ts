/** Reads a state file of Terraform (format version 4). */
import { existsSync, readFileSync } from "node:fs";

export interface InstanceState {
  /** Empty unless the instance is tainted. */
  readonly status: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Dotted paths of the sensitive attributes. */
  readonly sensitive: readonly string[];
  /** Undefined without an identity, and from an engine without identities. */
  readonly identity?: Readonly<Record<string, unknown>> | undefined;
}

interface RawInstance {
  readonly index_key?: string | number;
  readonly status?: string;
  readonly deposed?: string;
  readonly attributes: Record<string, unknown>;
  readonly identity?: Record<string, unknown>;
  readonly sensitive_attributes?: { readonly type: string; readonly value: unknown }[][];
}

interface RawState {
  readonly resources: {
    readonly module?: string;
    readonly mode: string;
    readonly type: string;
    readonly name: string;
    readonly instances: RawInstance[];
  }[];
}

/**
 * Returns the instances by address: `module.a.hosting_grant.b["c"]`, `data.hosting_plan.d`. Addresses of deposed
 * instances end with ` (deposed)`.
 */
export function readState(file: string): ReadonlyMap<string, InstanceState> {
  if (!existsSync(file)) return new Map();
  const { resources } = JSON.parse(readFileSync(file, "utf8")) as RawState;
  return new Map(
    resources.flatMap(({ module, mode, type, name, instances }) => {
      const base = [module, mode === "data" ? "data" : undefined, type, name].filter((part) => part !== undefined);
      return instances.map((raw): [string, InstanceState] => {
        const key = raw.index_key === undefined ? "" : `[${JSON.stringify(raw.index_key)}]`;
        const sensitive = (raw.sensitive_attributes ?? []).map((steps) => steps.map(({ value }) => value).join("."));
        return [
          `${base.join(".")}${key}${raw.deposed === undefined ? "" : " (deposed)"}`,
          { status: raw.status ?? "", attributes: raw.attributes, sensitive, identity: raw.identity },
        ];
      });
    }),
  );
}
