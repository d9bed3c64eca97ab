import { fromValue, object, type Type, type Typed, tuple, typeOfAttribute } from "../../core/expression/index.ts";
import {
  ExpressionError,
  isObject,
  type Schema,
  UNKNOWN,
  type Value,
  type ValueObject,
} from "../../core/model/index.ts";
import { constraintOf } from "./attribute-value.ts";

/** By schema: what nothing is known of, and the values that were typed before. */
interface Memory {
  readonly unknown: Typed;
  readonly known: WeakMap<object, Typed>;
}

const memories = new WeakMap<Schema, Memory>();

/**
 * A resource or a data source as expressions see it: an object with every attribute of the schema, null where there is no
 * value. Attributes that the schema calls sensitive are secret, whatever they hold.
 * @param secrets further attributes, into which a secret went
 * @throws ExpressionError for a value that is not of its attribute's type.
 */
export function objectOf(schema: Schema, value: Value, secrets: readonly string[] = []): Typed {
  const typed = ofSchema(schema, value);
  const marked = secrets.filter((name) => schema.attributes[name]?.sensitive !== true);
  if (marked.length === 0 || !(typed.content instanceof Map)) return typed;
  const content = new Map(typed.content as ReadonlyMap<string, Typed>);
  for (const name of marked) {
    const attribute = content.get(name);
    if (attribute !== undefined) content.set(name, { ...attribute, secret: true });
  }
  return { ...typed, content };
}

function ofSchema(schema: Schema, value: Value): Typed {
  const memory = memoryOf(schema);
  if (value === UNKNOWN) return memory.unknown;
  if (!isObject(value)) return { ...memory.unknown, content: null };
  const known = memory.known.get(value);
  if (known !== undefined) return known;
  const typed = typedObject(schema, (name) => (value as ValueObject)[name] ?? null);
  memory.known.set(value, typed);
  return typed;
}

function memoryOf(schema: Schema): Memory {
  const known = memories.get(schema);
  if (known !== undefined) return known;
  const made = { unknown: typedObject(schema, () => UNKNOWN), known: new WeakMap<object, Typed>() };
  memories.set(schema, made);
  return made;
}

function typedObject({ attributes }: Schema, read: (name: string) => Value): Typed {
  const types: Record<string, Type> = {};
  const content = new Map<string, Typed>();
  for (const name of Object.keys(attributes).sort()) {
    const attribute = attributes[name];
    if (attribute === undefined) continue;
    const type = typeOfAttribute(attribute.type);
    types[name] = type;
    // Sent, never kept.
    const value = attribute.writeOnly ? null : read(name);
    const typed = attributeOf(name, value, type, constraintOf(attribute.type));
    content.set(name, attribute.sensitive ? { ...typed, secret: true } : typed);
  }
  return { type: { object: types }, content };
}

/** @param constraint the same type, of whose nested attributes those without a value may be left out. */
function attributeOf(name: string, value: Value, type: Type, constraint: Type): Typed {
  if (value === UNKNOWN) return { type, content: UNKNOWN };
  try {
    return fromValue(value, constraint);
  } catch (error) {
    if (error instanceof ExpressionError)
      throw new ExpressionError(`${name} is not what it should be: ${error.message}`, 0);
    throw error;
  }
}

/** Several instances: in the order of `count`, or by the keys of `for_each`. */
export function instancesOf(
  instances: readonly (readonly [key: string | number, value: Typed])[],
  keyed: boolean,
): Typed {
  return keyed
    ? object(instances.map(([key, value]) => [String(key), value]))
    : tuple(instances.map(([, value]) => value));
}
