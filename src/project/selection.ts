// Selects resources by the words of the user: addresses, patterns of addresses, or clients.

import { kinds } from "../core/kinds/index.ts";
import { problem } from "../core/messages/index.ts";
import {
  CLIENT,
  type Desired,
  HostformError,
  isLike,
  isPattern,
  nearest,
  parseAddress,
  type ResourceState,
  resourceOf,
  type State,
} from "../core/model/index.ts";

export interface Selectable {
  readonly address: string;
  readonly client?: string | undefined;
}

/**
 * Returns the resources that a target can select. These are declared resources and resources of the state. A destroy
 * selects only from the state.
 */
export function selectable({ resources }: Desired, recorded: State, mode: "apply" | "destroy") {
  const declared = new Map(resources.map((one) => [one.address, one]));
  const known = [...recorded.resources.values()].map(({ address, provider, private: { client } }) => {
    return declared.get(address) ?? { address, provider, client };
  });
  return mode === "destroy" ? known : [...known, ...resources];
}

/**
 * Returns the addresses that the words select. `*` matches any number of characters: `hosting_service.acme-*` selects each
 * matching address, with or without its key. `client:acme` selects each resource of that client. An address that contains `*`
 * literally selects itself.
 * @throws HostformError `plan.address` for a pattern that matches nothing.
 */
export function selected(words: readonly string[], all: readonly Selectable[]): string[] {
  const addresses = new Set(all.map(({ address }) => address));
  const found = words.flatMap((word) =>
    !isPattern(word) || addresses.has(word) ? [word] : matching(word, all).map(({ address }) => address),
  );
  return [...new Set(found)];
}

function matching(target: string, all: readonly Selectable[]): readonly Selectable[] {
  const { isClient, pattern, namesOf } = termsOf(target);
  const found = all.filter((one) => isSelected(target, one));
  if (found.length > 0) return found;
  const names = [...new Set(all.flatMap(namesOf))].sort();
  throw new HostformError([
    isClient
      ? problem("plan.address/client", { target, near: nearest(pattern, names), clients: names })
      : problem("plan.address", { target, near: nearPattern(pattern, names) }),
  ]);
}

/** Returns true if a word selects the resource. */
export function isSelected(word: string, one: Selectable): boolean {
  const { pattern, namesOf } = termsOf(word);
  return one.address === word || (isPattern(word) && namesOf(one).some((name) => isLike(pattern, name)));
}

function termsOf(target: string) {
  const isClient = target.startsWith(CLIENT);
  const namesOf = ({ address, client }: Selectable) =>
    isClient ? (client === undefined ? [] : [client]) : [address, resourceOf(address)];
  return { isClient, pattern: isClient ? target.slice(CLIENT.length) : target, namesOf };
}

/** Suggests a similar pattern that matches an address. */
function nearPattern(pattern: string, names: readonly string[]): string | undefined {
  const length = pattern.indexOf("*");
  const near = nearest(
    pattern.slice(0, length),
    names.flatMap((name) => [-1, 0, 1].map((more) => name.slice(0, Math.max(0, length + more)))),
  );
  return near ? `${near}${pattern.slice(length)}` : undefined;
}

/**
 * Returns the state entries of resources that YAML nests in a resource. Their addresses contain its name, or its id if Terraform uses
 * `count`.
 */
export function nestedIn(state: State, { address: outer, attributes: { id } }: ResourceState) {
  const { type, name, key: counted } = parseAddress(outer) ?? {};
  return [...state.resources.values()].flatMap((record) => {
    const { address, attributes } = record;
    const parsed = parseAddress(address);
    const { nested } = kinds.get(parsed?.type ?? "") ?? {};
    if (parsed === undefined || nested === undefined || nested.in !== type) return [];
    const key = typeof parsed.key === "string" ? parsed.key : attributes[nested.keyAttribute];
    const isInside =
      counted === undefined
        ? parsed.name === name && typeof parsed.key === "string"
        : typeof id === "string" && attributes[nested.parentAttribute] === id;
    return isInside && typeof key === "string" ? [{ record, address, type: parsed.type, key }] : [];
  });
}
