import type { AttributePath, Value } from "./value.ts";

/** A reference of YAML: `${hosting_service.acme.id}` or `${env.NAME}`. `offset` is where its `${` stands in the string. */
export type Reference =
  | {
      readonly to: "resource";
      readonly address: string;
      readonly path: AttributePath;
      readonly text: string;
      readonly offset: number;
    }
  | { readonly to: "env"; readonly name: string; readonly text: string; readonly offset: number };

/** A reference with the path of the string that it stands in. */
export interface PlacedReference {
  readonly reference: Reference;
  readonly path: AttributePath;
}

/** Declared values that have to be evaluated, in whatever language they are written. */
export interface Expressions {
  /** Everything that the values refer to. A reference without a key may mean all instances, one without a path the whole. */
  readonly references: readonly PlacedReference[];
  /** The value of one declared attribute. @throws ExpressionError */
  evaluate(attribute: string, scope: Scope): Value;
  /** Whether a secret goes into a declared attribute; absent: one does where a reference names a secret attribute. */
  isSecret?(attribute: string, scope: Scope): boolean;
}

/** What the names in expressions mean. */
export interface Scope {
  /** The attributes of a resource, possibly unknown; undefined when there is no such resource. */
  resource(address: string): Value | undefined;
  env(name: string): string | undefined;
  /** The attributes of a resource that are secret here, whatever its schema says: a secret went into them. */
  secrets?(address: string): readonly string[];
}

/** An expression that cannot be read or evaluated; `offset` is the place in the string, `path` that of the string in its attribute. */
export class ExpressionError extends Error {
  readonly offset: number;
  readonly path: AttributePath;

  constructor(message: string, offset: number, path: AttributePath = []) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}
