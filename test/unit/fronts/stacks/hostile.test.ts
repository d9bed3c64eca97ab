import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";
import { remoteStatesOf } from "../../../../src/fronts/stacks/index.ts";
import fc, { runs } from "../../../support/fc.ts";
import { desiredOf, linesOf, PROVIDER, read, SERVICE, scope } from "./stacks.ts";

const chain = (length: number): Record<string, Json> =>
  Object.fromEntries(
    Array.from({ length }, (_, i) => [`l${i}`, i + 1 < length ? `\${local.l${i + 1}}` : "${hosting_service.a.id}"]),
  );

describe("a hostile stack", () => {
  it("with cycles of locals or instances is rejected", () => {
    expect(linesOf({ locals: { a: "${local.b}", b: "${local.c}", c: "${local.a}", d: "${local.d}" } })).toEqual([
      expect.stringContaining("References form a cycle: local.a -> local.b -> local.c -> local.a"),
      expect.stringContaining("local.d refers to itself"),
    ]);
    const event = { url: "https://x.example", events: ["invoice.paid"] };
    expect(
      linesOf({
        locals: { n: "${length(hosting_webhook.a)}" },
        resource: {
          hosting_webhook: {
            a: { ...event, count: "${length(hosting_webhook.b)}" },
            b: { ...event, count: "${local.n}" },
          },
        },
      }),
    ).toEqual([expect.stringContaining("References form a cycle")]);
  });

  it("can be read as far as hostform understands it", () => {
    const { partial } = read({
      provider: PROVIDER,
      locals: { a: "${local.b}", b: "${local.a}" },
      resource: {
        hosting_service: {
          x: { ...SERVICE, domain: "${local.a}" },
          y: { ...SERVICE, domain: "${hosting_service.y.id}" },
        },
      },
    });
    const values = partial?.resources.map(({ evaluate }) =>
      evaluate("domain", scope({ "hosting_service.y": { id: "1" } })),
    );
    expect(values).toHaveLength(2);
  });

  it("with a long chain of locals is read and evaluated", () => {
    const { resources } = desiredOf({
      provider: PROVIDER,
      locals: chain(5000),
      resource: {
        hosting_service: { a: SERVICE },
        hosting_grant: { g: { service_id: "${local.l0}", email: "x@x.example", permission: "view" } },
      },
    });
    const grant = resources.find(({ type }) => type === "hosting_grant");
    expect(grant?.evaluate("service_id", scope({ "hosting_service.a": { id: "7" } }))).toBe("7");
  });

  it("with locals that grow without end is rejected", () => {
    const locals = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `l${i}`,
        i === 0 ? "xxxxxxxxxx" : `\${local.l${i - 1}}\${local.l${i - 1}}`,
      ]),
    );
    const { desired, diagnostics } = read({ locals, output: { x: { value: "${local.l59}" } } });
    expect(desired).toBeUndefined();
    expect(diagnostics.every(({ code }) => code === "config.expression")).toBe(true);
  });

  it("with more instances than the limit of a project is rejected", () => {
    const many = { url: "https://x.example/${count.index}", events: ["invoice.paid"], count: 15_000 };
    expect(linesOf({ resource: { hosting_webhook: { a: many, b: many } } })).toEqual([
      expect.stringContaining("more than 20000 resources"),
    ]);
  });

  it("never makes the reader throw", () => {
    const word = fc.constantFrom(
      "resource",
      "data",
      "locals",
      "output",
      "variable",
      "provider",
      "terraform",
      "import",
      "moved",
      "removed",
      "hosting_service",
      "hosting_grant",
      "hosting_plans",
      "terraform_remote_state",
      "hosting",
      "a",
      "value",
      "default",
      "type",
      "sensitive",
      "validation",
      "condition",
      "error_message",
      "for_each",
      "count",
      "lifecycle",
      "ignore_changes",
      "depends_on",
      "backend",
      "local",
      "http",
      "path",
      "to",
      "from",
      "id",
      "//",
      "metadata",
      "stackTrace",
      "domain",
      "plan_id",
      "token",
      "alias",
      "project",
      "constructor",
      "toString",
    );
    const text = fc.oneof(
      word,
      fc.constantFrom(
        "${var.a}",
        "${local.a}",
        "${each.value}",
        "${hosting_service.a.id}",
        "${hosting_service.a}",
        "${data.hosting_plans.a}",
        "${",
        "%{if true}",
        "${[for x in local.a : x]}",
        "all",
        "hosting_service.a",
        "hosting_service.a[0]",
        "list(string)",
        "\u0000",
        "${data.terraform_remote_state.a.outputs.x}",
        "${count.index}",
        "hosting.a",
        "${hosting_service.a[*].id}",
      ),
      fc.string({ maxLength: 6 }),
    );
    const { stack } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, depthSize: "small" },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie("list"),
        tie("map"),
      ),
      list: fc.array(tie("value"), { maxLength: 3 }),
      map: fc.dictionary(word, tie("value"), { maxKeys: 4 }),
      stack: fc.dictionary(word, tie("map"), { maxKeys: 6 }),
    }));
    fc.assert(
      fc.property(stack, (json) => {
        const { desired, partial } = read(json as Json);
        remoteStatesOf([{ path: "x", text: JSON.stringify(json) }]);
        for (const resource of (desired ?? partial)?.resources ?? []) {
          expect(typeof resource.address).toBe("string");
          resource.locate([]);
        }
      }),
      { numRuns: runs(400) },
    );
  });
});
