/**
 * The address of a resource, in Terraform's syntax: `hosting_service.acme`, `hosting_grant.acme["dev@acme.example"]`.
 * Inside the program addresses travel as these strings; {@link parseAddress} takes them apart where a part is needed.
 */
export interface Address {
  readonly type: string;
  readonly name: string;
  /** The instance key: a string for `for_each`-like instances, a number for `count`-like ones. */
  readonly key?: string | number;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const ADDRESS = /^([a-z][a-z0-9_]*)\.([A-Za-z_][A-Za-z0-9_-]*)(?:\[(?:(\d+)|("(?:[^"\\]|\\.)*"))\])?$/;

/** True for what Terraform accepts as a resource name (letters, digits, `_`, `-`; not starting with a digit or `-`). */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** True for the name of a project: part of the Idempotency-Keys of its orders, so it is the same in every front. */
export function isProjectName(text: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/.test(text);
}

export function formatAddress(address: Address): string {
  const base = `${address.type}.${address.name}`;
  if (address.key === undefined) return base;
  return typeof address.key === "number" ? `${base}[${address.key}]` : `${base}[${JSON.stringify(address.key)}]`;
}

/** Parses an address; `undefined` when the text is not one. */
export function parseAddress(text: string): Address | undefined {
  const match = ADDRESS.exec(text);
  if (match === null) return undefined;
  const [, type = "", name = "", index, quoted] = match;
  if (index !== undefined) return { type, name, key: Number(index) };
  if (quoted === undefined) return { type, name };
  try {
    return { type, name, key: JSON.parse(quoted) as string };
  } catch {
    return undefined;
  }
}

/** The resource an instance belongs to: `hosting_grant.acme["a@b"]` -> `hosting_grant.acme`. */
export function resourceOf(address: string): string {
  const bracket = address.indexOf("[");
  return bracket < 0 ? address : address.slice(0, bracket);
}
