/** A declaration of several objects of one kind, as YAML and as Terraform JSON for stacks and Terraform. */
import { attributesOf, email, FACTS, HOME, type KindName } from "./kinds.ts";

/** Languages of a declaration, each with the program that applies it. */
export const FRONTS = ["yaml", "stack", "terraform"] as const;
export type Front = (typeof FRONTS)[number];

/**
 * Form of a declaration: a block for each object; `count` over a list; `for_each` over a map from names to keys; or
 * `for_each` by e-mail address, as in the grants of YAML.
 */
export type Form = "blocks" | "count" | "for_each" | "keyed";

export interface Item {
  readonly name: string;
  readonly key: string;
}

export interface Declaration {
  readonly kind: KindName;
  readonly form: Form;
  readonly items: readonly Item[];
  /** Name of the service with the grants. Default: home. */
  readonly home?: string;
  readonly moved?: readonly { readonly from: string; readonly to: string }[];
  readonly imports?: readonly { readonly to: string; readonly id: string }[];
}

/** Returns the address of each object, by its key. */
export function addressesOf({ kind, form, items, home = "home" }: Declaration): ReadonlyMap<string, string> {
  const { type } = FACTS[kind];
  return new Map(
    items.map(({ name, key }, at) => {
      const address = {
        blocks: `${type}.${name}`,
        count: `${type}.item[${at}]`,
        for_each: `${type}.item["${name}"]`,
        keyed: `${type}.${home}["${email(key)}"]`,
      }[form];
      return [key, address];
    }),
  );
}

const lists = ({ moved, imports }: Declaration) => ({
  ...(moved !== undefined && { moved }),
  ...(imports !== undefined && { import: imports }),
});

/** Returns the declaration for YAML, as an object. YAML supports the form `blocks`, and `keyed` for grants. */
export function yamlOf(declared: Declaration): object {
  const { kind, items, home = "home" } = declared;
  const { section } = FACTS[kind];
  const top = { project: "journey", ...lists(declared) };
  if (kind === "grant") {
    const grants = Object.fromEntries(items.map(({ key }) => [email(key), "view"]));
    return { ...top, services: { [home]: { ...HOME, grants } } };
  }
  return { ...top, [section]: Object.fromEntries(items.map(({ name, key }) => [name, attributesOf(kind, key)])) };
}

/** Returns the declaration as constructs synthesize it. */
export function jsonOf(declared: Declaration): object {
  const { kind, form, items, home = "home" } = declared;
  const { type } = FACTS[kind];
  const parent = kind === "grant" && { service_id: `\${hosting_service.${home}.id}` };
  const attributes = (key: string) => ({ ...attributesOf(kind, key), ...parent });
  const pairs = (name: (item: Item) => string) => Object.fromEntries(items.map((item) => [name(item), item.key]));
  const blocks = {
    blocks: () => Object.fromEntries(items.map(({ name, key }) => [name, attributes(key)])),
    count: () => ({ item: { count: items.length, ...attributes("${local.items[count.index]}") } }),
    for_each: () => ({ item: { for_each: pairs(({ name }) => name), ...attributes("${each.value}") } }),
    keyed: () => ({ [home]: { for_each: pairs(({ key }) => email(key)), ...attributes("${each.value}") } }),
  }[form]();
  return {
    "//": { metadata: { backend: "local", stackName: "acme", version: "0.21.0" } },
    terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
    provider: { hosting: [{ project: "journey" }] },
    ...lists(declared),
    ...(form === "count" && { locals: { items: items.map(({ key }) => key) } }),
    resource: {
      ...(kind === "grant" && { hosting_service: { [home]: HOME } }),
      ...(Object.keys(blocks).length > 0 && { [type]: blocks }),
    },
  };
}
