import { kinds } from "../core/kinds/index.ts";
import { sensitiveNames } from "../core/lifecycle/index.ts";
import { type Desired, type EvalScope, isObject, parseAddress, UNKNOWN, type Value } from "../core/model/index.ts";

/** The attributes of a data source that hold secrets, by its type. */
export type DataSecrets = ReadonlyMap<string, readonly string[]>;

/**
 * A declaration whose expressions are given no secret: an attribute that holds one is unknown to them. What an expression makes of a
 * secret is not one to recognize (`upper`, a part, a number, whether a pattern fits it), so that hiding it afterwards cannot work.
 * What says that a value is secret stays, so that it is shown as one.
 */
export function withoutSecrets(desired: Desired, data: DataSecrets): Desired {
  const views = new WeakMap<EvalScope, EvalScope>();
  const view = (scope: EvalScope): EvalScope => {
    const known = views.get(scope) ?? withholding(scope, data);
    views.set(scope, known);
    return known;
  };
  return {
    ...desired,
    resources: desired.resources.map((one) => ({ ...one, ...expressions(one, view) })),
    ...(desired.data && { data: desired.data.map((one) => ({ ...one, ...expressions(one, view) })) }),
    ...(desired.outputs && {
      outputs: desired.outputs.map((one) => ({ ...one, evaluate: (scope) => one.evaluate(view(scope)) })),
    }),
  };
}

type Expressions = Pick<Desired["resources"][number], "evaluate" | "isSecret">;

function expressions({ evaluate, isSecret }: Expressions, view: (scope: EvalScope) => EvalScope): Expressions {
  return {
    evaluate: (attribute, scope) => evaluate(attribute, view(scope)),
    ...(isSecret && { isSecret: (attribute, scope) => isSecret(attribute, view(scope)) }),
  };
}

/** The scope with every secret attribute unknown. The same value stays the same object: what was made of it is kept by that. */
function withholding(scope: EvalScope, data: DataSecrets): EvalScope {
  const seen = new WeakMap<object, { readonly names: string; readonly value: Value }>();
  return {
    ...scope,
    resource(address) {
      const value = scope.resource(address);
      if (!isObject(value)) return value;
      const secret = [...secretsOfType(address, data), ...(scope.secrets?.(address) ?? [])];
      const names = secret.join();
      const known = seen.get(value);
      if (known?.names === names) return known.value;
      const withheld = secret.filter((name) => (value as Record<string, Value>)[name] != null);
      const shown = { ...value, ...Object.fromEntries(withheld.map((name) => [name, UNKNOWN])) } as Value;
      seen.set(value, { names, value: shown });
      return shown;
    },
  };
}

function secretsOfType(address: string, data: DataSecrets): readonly string[] {
  if (address.startsWith("data.")) return data.get(parseAddress(address.slice("data.".length))?.type ?? "") ?? [];
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  return kind === undefined ? [] : sensitiveNames(kind);
}
