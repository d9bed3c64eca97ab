/** Reads `schemas/openapi.yaml` for the tests and the API reference. The types cover only the used fields. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

/**
 * Marks of a part that the specification leaves open, and of the implementations that fill it. The head of the
 * document describes them.
 */
export interface Marks {
  readonly "x-unspecified"?: boolean;
  readonly "x-clause"?: string;
  /** Sentences, as a list or by values of `x-switch`. */
  readonly "x-alternatives"?: readonly string[] | Readonly<Record<string, string>>;
  readonly "x-switch"?: string;
  /** Conditions `switch=value`. ` & ` joins several conditions. One item of a list must hold. */
  readonly "x-when"?: string | readonly string[];
  readonly "x-empty-body"?: string;
}

export interface Schema extends Marks {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly "x-contradicts"?: Readonly<Record<string, Schema>>;
}

export interface Parameter extends Marks {
  readonly $ref?: string;
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly "x-maximum"?: number;
}

export interface Media extends Marks {
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Header extends Marks {
  readonly $ref?: string;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Answer extends Marks {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface RequestBody {
  readonly required?: boolean;
  readonly description?: string;
  readonly content: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly "x-ability"?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Answer>>;
  readonly callbacks?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Operation>>>>>>;
}

export const METHODS = ["get", "post", "delete"] as const;

export type PathItem = { readonly parameters?: readonly Parameter[] } & {
  readonly [M in (typeof METHODS)[number]]?: Operation;
};

export interface ApiDocument {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** An operation with its method, its path and the parameters of its path. */
export interface Placed {
  readonly method: string;
  /** Path template: `/api/v1/services/{id}`. */
  readonly path: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
}

export const DOCUMENT_FILE = path.resolve(import.meta.dirname, "../../../schemas/openapi.yaml");

export function readDocument(): ApiDocument {
  return parse(readFileSync(DOCUMENT_FILE, "utf8")) as ApiDocument;
}

/**
 * Returns the part, or the target of its `$ref`.
 * @throws Error if the target does not exist.
 */
export function resolve<T extends { readonly $ref?: string }>(document: ApiDocument, part: T): T {
  if (part.$ref === undefined) return part;
  const steps = part.$ref.replace(/^#\//, "").split("/");
  const found = steps.reduce<unknown>(
    (place, step) => (place as Record<string, unknown> | undefined)?.[step],
    document,
  );
  if (found === undefined) throw new Error(`schemas/openapi.yaml has nothing at ${part.$ref}.`);
  return resolve(document, found as T);
}

/** Returns all operations, in the order of the document. */
export function operationsOf(document: ApiDocument): Placed[] {
  return Object.entries(document.paths).flatMap(([where, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const own = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      const parameters = own.map((parameter) => resolve(document, parameter));
      return [{ method: method.toUpperCase(), path: where, operation, parameters }];
    }),
  );
}
