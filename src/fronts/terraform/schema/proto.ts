import { create } from "@bufbuild/protobuf";
import {
  type Attribute,
  type Attributes,
  isNested,
  type Schema,
  type SchemaType,
  typeJson,
} from "../../../core/model/schema.ts";
import {
  Schema_Object_NestingMode as NestingMode,
  type Schema_Attribute as ProtoAttribute,
  type Schema as ProtoSchema,
  Schema_AttributeSchema,
  SchemaSchema,
  StringKind,
} from "../wire/tfplugin6.gen.ts";

/** Encodes a type as the UTF-8 bytes of its JSON ({@link typeJson}). */
export function typeBytes(type: SchemaType): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(typeJson(type)));
}

export function toProtoSchema({ version, description, attributes }: Schema): ProtoSchema {
  return create(SchemaSchema, {
    version: BigInt(version),
    block: {
      version: BigInt(version),
      attributes: toProtoAttributes(attributes),
      description,
      descriptionKind: StringKind.MARKDOWN,
    },
  });
}

const toProtoAttributes = (attributes: Attributes): ProtoAttribute[] =>
  Object.entries(attributes).map(([name, attribute]) => toProtoAttribute(name, attribute));

function toProtoAttribute(name: string, attribute: Attribute): ProtoAttribute {
  const { type, required, optional, computed, sensitive, writeOnly, description } = attribute;
  return create(Schema_AttributeSchema, {
    name,
    ...(isNested(type)
      ? { nestedType: { attributes: toProtoAttributes(type.attributes), nesting: NESTING[type.nesting] } }
      : { type: typeBytes(type) }),
    description,
    descriptionKind: StringKind.MARKDOWN,
    required: required ?? false,
    optional: optional ?? false,
    computed: computed ?? false,
    sensitive: sensitive ?? false,
    writeOnly: writeOnly ?? false,
  });
}

const NESTING = { single: NestingMode.SINGLE, list: NestingMode.LIST } as const;
