import { z } from "zod";
import { attribute } from "../../../../src/core/kinds/attribute.ts";
import type { Kind, Kinds } from "../../../../src/core/kinds/kind.ts";
import type { Diagnostic } from "../../../../src/core/model/index.ts";
import { parseDeclaration } from "../../../../src/fronts/yaml/index.ts";

const id = attribute(z.string(), { description: "Given by the API.", computed: true });
const declared = (type: z.ZodType = z.string()) => attribute(type, { description: "Declared.", change: "immutable" });

/** Returns a kind with only the parts that the front end reads. */
function fakeKind(part: Pick<Kind, "type" | "section" | "noun" | "attributes" | "nested">): Kind {
  return {
    naturalKey: () => undefined,
    words: { name: "name" },
    summary: "",
    description: "",
    example: "",
    schemaVersion: 0,
    creation: "listable",
    removal: "delete",
    create: () => {
      throw new Error("a declaration creates nothing");
    },
    created: () => {
      throw new Error("a declaration creates nothing");
    },
    ...part,
  };
}

const service = fakeKind({
  type: "hosting_service",
  section: "services",
  noun: "service",
  attributes: z.strictObject({
    id,
    plan_id: declared(z.number()),
    domain: declared(),
    term: declared(z.number()),
    password: attribute(z.string(), { description: "Write-only.", change: "in-place", writeOnly: true }),
    status: attribute(z.string(), { description: "Given by the API.", computed: true }),
  }),
});

const grant = fakeKind({
  type: "hosting_grant",
  section: "grants",
  noun: "grant",
  attributes: z.strictObject({
    id,
    service_id: declared(),
    email: declared(),
    permission: declared(),
    expires_at: declared(),
  }),
  nested: {
    in: "hosting_service",
    section: "grants",
    keyAttribute: "email",
    parentAttribute: "service_id",
    shorthand: "permission",
  },
});

const webhook = fakeKind({
  type: "hosting_webhook",
  section: "webhooks",
  noun: "webhook",
  attributes: z.strictObject({
    id,
    url: declared(),
    events: declared(z.array(z.string())),
    labels: declared(z.record(z.string(), z.json())),
  }),
});

/** Three small kinds: a service with nested grants, the grant, and a webhook with a list and a free map. */
export const kinds: Kinds = new Map([service, grant, webhook].map((kind) => [kind.type, kind]));

/** Parses a file that starts with `project: p`, so the first line of `text` is line 2. */
export function declare(text: string, env: Record<string, string> = {}) {
  return parseDeclaration([{ path: "hosting.yaml", text: `project: p\n${text}` }], { kinds, env });
}

/** Parses several files of one folder, without an added `project`. */
export function declareFiles(files: Record<string, string>, env: Record<string, string> = {}) {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  return parseDeclaration(sources, { kinds, env });
}

/** Formats diagnostics as `line:column code: summary` for comparison with a table of errors. */
export function reported(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code, range, summary }) => {
    const place = range === undefined ? "-" : `${range.line}:${range.column}`;
    return `${place} ${code}: ${summary}`;
  });
}
