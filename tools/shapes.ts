import codemaker from "codemaker";
import { type Attribute, type Attributes, isNested, type Schema } from "../src/core/model/schema.ts";
import type { Catalogue } from "../src/fronts/terraform/catalogue.ts";

/** What a class or an interface of the bindings stands for. */
export interface Shape {
  /** Of the resource, the data source, … itself; none where the object is an attribute of one. */
  readonly schema?: Schema;
  readonly attributes: Attributes;
}

/**
 * The names of the classes and interfaces that the generators make, with what each stands for: `Service`, `ServiceConfig`,
 * `ServiceTimeouts`, `ServiceTimeoutsOutputReference`, …
 *
 * @throws Error when a secret is to be given within an object, where no construct is at hand to warn at
 */
export function shapesOf({ provider, resources, dataSources, ephemeral }: Catalogue): ReadonlyMap<string, Shape> {
  const shapes = new Map<string, Shape>();
  const add = (name: string, schema: Schema) => {
    const shape = { schema, attributes: schema.attributes };
    shapes.set(name, shape).set(`${name}Config`, shape);
    addNested(shapes, name, schema.attributes);
  };
  const pascal = (type: string) => codemaker.toPascalCase(type);
  add("HostingProvider", provider);
  for (const [type, schema] of resources) add(pascal(type.replace(/^hosting_/, "")), schema);
  for (const [type, schema] of dataSources) add(pascal(`data_${type}`), schema);
  for (const [type, schema] of ephemeral) add(pascal(`ephemeral_${type}`), schema);
  return shapes;
}

function addNested(shapes: Map<string, Shape>, parent: string, attributes: Attributes): void {
  for (const [name, { type }] of Object.entries(attributes)) {
    if (!isNested(type)) continue;
    const given = Object.entries(type.attributes).find(([, attribute]) => isGivenSecret(attribute));
    if (given !== undefined) {
      throw new Error(
        `${parent}, ${name}.${given[0]}: the bindings cannot warn of a secret in clear text in an object`,
      );
    }
    const nested = `${parent}${codemaker.toPascalCase(name)}`;
    const shape = { attributes: type.attributes };
    shapes.set(nested, shape).set(`${nested}OutputReference`, shape);
    addNested(shapes, nested, type.attributes);
  }
}

/** A secret that a configuration holds, in contrast to one that the API returns. */
export const isGivenSecret = ({ sensitive, writeOnly, required, optional }: Attribute): boolean =>
  Boolean((sensitive || writeOnly) && (required || optional));
