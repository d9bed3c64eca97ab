import { normalize } from "node:path";
import {
  type DesiredResource,
  type Diagnostic,
  hasUnknown,
  isObject,
  located,
  type ValueObject,
} from "../model/index.ts";

/** A place that a secret is written to: a file, or (with a name) one line of a file. */
interface Place {
  readonly path: string;
  readonly name?: string;
}

/** Notes where the secrets of a declaration go; says of each one that would overwrite, or be overwritten by, an earlier one. */
export class SecretPlaces {
  readonly #taken = new Map<string, { readonly place: Place; readonly resource: DesiredResource }[]>();

  add(resource: DesiredResource, config: ValueObject): Diagnostic[] {
    const place = placeOf(config);
    if (place === undefined) return [];
    const others = this.#taken.get(place.path) ?? [];
    this.#taken.set(place.path, [...others, { place, resource }]);
    const twin = others.find((other) => overlap(other.place, place));
    return twin === undefined ? [] : [samePlace(resource, twin.resource)];
  }
}

/** Commands are not compared: what they do with two secrets is their affair. */
function placeOf({ secret_output: output }: ValueObject): Place | undefined {
  if (!isObject(output) || hasUnknown(output as ValueObject)) return undefined;
  const { file, env_file: line } = output;
  if (typeof file === "string") return { path: normalize(file) };
  return isObject(line) ? { path: normalize(String(line.path)), name: String(line.name) } : undefined;
}

/** A file that is replaced whole leaves no line of another's in it. */
const overlap = (a: Place, b: Place) => a.name === undefined || b.name === undefined || a.name === b.name;

function samePlace(resource: DesiredResource, first: DesiredResource): Diagnostic {
  const diagnostic: Diagnostic = {
    severity: "error",
    code: "config.duplicate",
    summary: `${resource.address} and ${first.address} write their secrets to the same place`,
    detail: "One would overwrite the other, which is told only once.",
    remedies: ["Name another file, or another variable of the same `env_file`."],
    address: resource.address,
    attribute: ["secret_output"],
  };
  return located(diagnostic, resource.locate(["secret_output"]));
}
