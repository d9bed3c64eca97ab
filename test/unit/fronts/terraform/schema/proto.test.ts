import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { type Attributes, isNested, type Schema } from "../../../../../src/core/model/schema.ts";
import { catalogue } from "../../../../../src/fronts/terraform/catalogue.ts";
import { toProtoSchema, typeBytes } from "../../../../../src/fronts/terraform/schema/proto.ts";
import {
  type Schema_Attribute as ProtoAttribute,
  SchemaSchema,
  StringKind,
} from "../../../../../src/fronts/terraform/wire/tfplugin6.gen.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const sent = (schema: Schema) => fromBinary(SchemaSchema, toBinary(SchemaSchema, toProtoSchema(schema)));

describe("a schema as a message", () => {
  it("writes types as Terraform does", () => {
    expect(text(typeBytes("bool"))).toBe('"bool"');
    expect(text(typeBytes({ list: "string" }))).toBe('["list","string"]');
    expect(text(typeBytes({ map: { set: "number" } }))).toBe('["map",["set","number"]]');
  });

  it("is read back as it was, for everything that the provider offers", () => {
    const schemas = [catalogue.provider, ...catalogue.resources.values(), ...catalogue.dataSources.values()];
    for (const schema of [...schemas, ...catalogue.ephemeral.values()]) {
      compare(sent(schema).block?.attributes ?? [], schema.attributes);
    }
  });
});

function compare(encoded: readonly ProtoAttribute[], attributes: Attributes): void {
  expect(encoded.map(({ name }) => name)).toEqual(Object.keys(attributes));
  for (const one of encoded) {
    const { type, description, required, optional, computed, sensitive, writeOnly } = attributes[one.name] ?? {};
    expect(one).toMatchObject({
      description,
      descriptionKind: StringKind.MARKDOWN,
      required: required ?? false,
      optional: optional ?? false,
      computed: computed ?? false,
      sensitive: sensitive ?? false,
      writeOnly: writeOnly ?? false,
    });
    expect(one.type.length > 0).toBe(one.nestedType === undefined);
    if (type !== undefined && isNested(type)) compare(one.nestedType?.attributes ?? [], type.attributes);
  }
}
