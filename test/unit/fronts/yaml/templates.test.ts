import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/core/model/index.ts";

import { Source } from "../../../../src/fronts/source/source.ts";
import { type MapTree, type Tree, toJson } from "../../../../src/fronts/source/tree.ts";
import { merge } from "../../../../src/fronts/yaml/expand.ts";

import fc, { runs } from "../../../support/fc.ts";
import { declare, declareFiles } from "./fakes.ts";

const SITE = `
templates:
  site:
    parameters: {domain: , plan: 21}
    plan_id: \${plan}
    domain: www.\${domain}
    grants:
      dev@agency.example: manage
      audit@agency.example: {permission: view, expires_at: "2030-01-01"}
`;

/** Returns the declared attributes by address. */
function configs(text: string, env = {}) {
  const { desired, diagnostics } = declare(text, env);
  expect(diagnostics).toEqual([]);
  return Object.fromEntries((desired?.resources ?? []).map(({ address, config }) => [address, config]));
}

/** Formats each diagnostic as one line: `line:column`, ` <- line:column` for each use, code and summary. */
function mistakes(text: string): string[] {
  return declare(text).diagnostics.map(({ code, range, summary, severity }) => {
    const uses = (range?.usedAt ?? []).map(({ line, column }) => ` <- ${line}:${column}`).join("");
    return `${severity === "warning" ? "warning " : ""}${range?.line}:${range?.column}${uses} ${code}: ${summary}`;
  });
}

describe("a template", () => {
  it("creates a block with its parameters, its defaults and the block's own values", () => {
    const found = configs(`${SITE}
services:
  acme: {template: site, with: {domain: acme.example}}
  beta:
    template: site
    with: {domain: beta.example, plan: 11}
    term: 12
    grants:
      dev@agency.example: view
      audit@agency.example: {expires_at: "2031-01-01"}
`);
    expect(found["hosting_service.acme"]).toEqual({ plan_id: 21, domain: "www.acme.example" });
    expect(found["hosting_service.beta"]).toEqual({ plan_id: 11, domain: "www.beta.example", term: 12 });
    expect(found['hosting_grant.beta["dev@agency.example"]']).toMatchObject({ permission: "view" });
    expect(found['hosting_grant.beta["audit@agency.example"]']).toMatchObject({
      permission: "view",
      expires_at: "2031-01-01",
      service_id: "${hosting_service.beta.id}",
    });
  });

  it("keeps the type of a value that consists of one parameter", () => {
    const found = configs(`
templates:
  hook:
    parameters: {events: [a], labels: {x: 1}, on: true}
    url: https://\${name}.example/\${on}
    events: \${events}
    labels: {more: "\${labels}", on: "\${on}", text: "\${ on }!"}
webhooks:
  a: {template: hook}
  b: {template: hook, with: {events: [b, c], labels: {y: [2]}, on: 5}}
`);
    expect(found["hosting_webhook.a"]).toEqual({
      url: "https://a.example/true",
      events: ["a"],
      labels: { more: { x: 1 }, on: true, text: "true!" },
    });
    expect(found["hosting_webhook.b"]).toEqual({
      url: "https://b.example/5",
      events: ["b", "c"],
      labels: { more: { y: [2] }, on: 5, text: "5!" },
    });
  });

  it("keeps references to resources and to the environment, and a literal ${, unchanged", () => {
    const found = configs(
      `
templates:
  hook:
    parameters: {at: }
    url: \${env.HOST}/\${at}
    events: ["$\${at}", "\${hosting_service.\${name}.id}", "\${at}"]
services:
  a: {domain: a.example}
webhooks:
  a: {template: hook, with: {at: "\${hosting_service.a.id}"}}
`,
      { HOST: "h" },
    );
    expect(found["hosting_webhook.a"]).toEqual({
      url: "${env.HOST}/${hosting_service.a.id}",
      events: ["$${at}", "${hosting_service.a.id}", "${hosting_service.a.id}"],
    });
  });

  it("replaces parameters in keys", () => {
    const found = configs(`
templates:
  site:
    parameters: {dev: }
    grants: {"\${dev}@agency.example": manage}
services:
  a: {template: site, with: {dev: kim}}
`);
    expect(Object.keys(found)).toEqual(["hosting_service.a", 'hosting_grant.a["kim@agency.example"]']);
  });

  it("may use another template, and passes its parameters", () => {
    const found = configs(`
templates:
  shop: {template: site, parameters: {host: }, with: {domain: "shop.\${host}"}, term: 12}
  site: {parameters: {domain: }, domain: "www.\${domain}", term: 1}
services:
  a: {template: shop, with: {host: a.example}}
`);
    expect(found["hosting_service.a"]).toEqual({ domain: "www.shop.a.example", term: 12 });
  });

  it("may be in another file", () => {
    const { desired } = declareFiles({
      "a.yaml": "project: p\nservices:\n  a: {template: site}\n",
      "b.yaml": "templates:\n  site: {domain: '${name}.example'}\n",
    });
    expect(desired?.resources[0]?.config).toEqual({ domain: "a.example" });
  });

  it("sets client, provider, depends_on and import too", () => {
    const { desired } = declare(`
providers: {own: {}}
templates:
  site: {parameters: {id: }, client: "\${name}", provider: own, import: "\${id}", depends_on: [hosting_webhook.a]}
services:
  a: {template: site, with: {id: 7}}
webhooks:
  a: {url: u}
`);
    expect(desired?.resources[0]).toMatchObject({
      client: "a",
      provider: "own",
      importId: "7",
      dependsOn: ["hosting_webhook.a"],
    });
  });
});

describe("the block's own values", () => {
  const grants = (block: string) =>
    Object.keys(configs(`${SITE}services:\n  a: {template: site, with: {domain: a.example}, ${block}}\n`))
      .slice(1)
      .map((address) => address.slice('hosting_grant.a["'.length, -2));

  it.each([
    ["adds to a map", "grants: {x@a.example: view}", ["dev@agency.example", "audit@agency.example", "x@a.example"]],
    ["removes by null", "grants: {dev@agency.example: }", ["audit@agency.example"]],
    ["removes a map by null", "grants: ", []],
    ["replaces a map", "replace: [grants], grants: {x@a.example: view}", ["x@a.example"]],
    ["replaces a map by nothing", "replace: [grants]", []],
  ])("%s", (_, block, left) => {
    expect(grants(block)).toEqual(left);
  });

  it("replace the source of a secret, because there is only one", () => {
    const { desired } = declare(`
templates:
  site: {password: {env: A}}
services:
  a: {template: site, password: {file: b}}
`);
    expect(desired?.resources[0]?.sources?.get("password")).toEqual({ file: "b" });
  });
});

describe("defaults", () => {
  it("have a lower priority than template and block, including nested values, and do not affect other kinds", () => {
    const found = configs(`
defaults:
  services: {plan_id: 1, domain: d.example, term: 1}
  grants: {permission: view, expires_at: "2030-01-01"}
templates:
  site: {domain: t.example, term: 2}
services:
  a: {template: site, term: 3, grants: {x@a.example: manage, y@a.example: }}
  b:
webhooks:
  a: {url: u}
`);
    expect(found["hosting_service.a"]).toEqual({ plan_id: 1, domain: "t.example", term: 3 });
    expect(found["hosting_service.b"]).toEqual({ plan_id: 1, domain: "d.example", term: 1 });
    expect(found['hosting_grant.a["x@a.example"]']).toMatchObject({ permission: "manage", expires_at: "2030-01-01" });
    expect(found['hosting_grant.a["y@a.example"]']).toMatchObject({ permission: "view" });
    expect(found["hosting_webhook.a"]).toEqual({ url: "u" });
  });

  it("set a provider if the document names none", () => {
    const { desired } = declareFiles({
      "a.yaml":
        "project: p\nproviders: {own: {}, far: {}}\ndefaults: {services: {provider: far}}\nservices: {a: {term: 1}}\n",
      "b.yaml": "provider: own\nservices: {b: {term: 1}}\n",
    });
    expect(desired?.resources.map(({ provider }) => provider)).toEqual(["far", "own"]);
  });
});

describe("an error is shown at its position, and at each use", () => {
  const USE = "services:\n  a: {template: t}\n";
  it.each([
    [
      "unknown template",
      `templates: {site: {term: 1}}\nservices:\n  a: {template: sit}\n`,
      ['4:17 config.template: No template "sit" is declared. Did you mean "site"?'],
    ],
    [
      "template that is an expression",
      "services:\n  a: {template: '${x}'}\n",
      ["3:17 config.template: `template` must be the name of a template"],
    ],
    [
      "missing parameter",
      `templates: {t: {parameters: {d: }, domain: "\${d}"}}\n${USE}`,
      ['4:17 config.template: The template "t" requires the parameter "d"'],
    ],
    [
      "unknown parameter at the use",
      `templates: {t: {parameters: {dom: 1}, term: "\${dom}"}}\nservices:\n  a: {template: t, with: {don: 1}}\n`,
      ['4:27 config.template: The template "t" has no parameter "don". Did you mean "dom"?'],
    ],
    [
      "unknown parameter in the template",
      `templates: {t: {domain: "\${d}"}}\n${USE}`,
      ['2:25 <- 4:17 config.template: The template "t" has no parameter "d".'],
    ],
    [
      "unknown parameter in a template that nothing uses",
      `templates: {t: {domain: "\${d}"}}\n`,
      ['2:25 config.template: The template "t" has no parameter "d".'],
    ],
    [
      "unused parameter",
      `templates: {t: {parameters: {d: 1}, term: 1}}\n${USE}`,
      ['warning 2:30 <- 4:17 config.template: The template "t" does not use its parameter "d"'],
    ],
    [
      "reserved parameter",
      `templates: {t: {parameters: {name: }, term: 1}}\n`,
      ['2:30 config.template: "name" cannot be the name of a parameter'],
    ],
    [
      "circle",
      `templates:\n  t: {template: u}\n  u: {template: t}\n${USE}`,
      ["4:17 <- 3:17 <- 6:17 config.template: Templates form a cycle: t -> u -> t"],
    ],
    [
      "wrong form of a parameter",
      `templates: {t: {parameters: {e: [x]}, labels: {e: "\${e}"}}}\nwebhooks:\n  a: {template: t, with: {e: x}}\n`,
      ['4:30 config.template: The parameter "e" must be a list'],
    ],
    [
      "a map in a text",
      `templates: {t: {parameters: {e: }, url: "x\${e}"}}\nwebhooks:\n  a: {template: t, with: {e: {x: 1}}}\n`,
      ['4:30 <- 2:41 config.template: The parameter "e" is a map and cannot be part of a string'],
    ],
    [
      "a map as a key",
      `templates: {t: {parameters: {e: }, labels: {"\${e}": 1}}}\nwebhooks:\n  a: {template: t, with: {e: {x: 1}}}\n`,
      ['2:45 <- 4:17 config.template: The key "${e}" requires a single value'],
    ],
    [
      "keys that become one",
      `templates: {t: {parameters: {e: }, labels: {"\${e}": 1, x: 2}}}\nwebhooks:\n  a: {template: t, with: {e: x}}\n`,
      ['2:56 <- 4:17 config.template: "x" is declared twice in the same map'],
    ],
    [
      "unknown attribute",
      `templates: {t: {term: 1, domian: a}}\n${USE}`,
      ['2:26 <- 4:17 config.unknown_key: A service has no attribute "domian". Did you mean "domain"?'],
    ],
    [
      "unknown attribute of the defaults",
      "defaults: {services: {domian: a}}\nservices:\n  a: {term: 1}\n",
      ['2:23 <- 4:3 config.unknown_key: A service has no attribute "domian". Did you mean "domain"?'],
    ],
    [
      "reference to nothing",
      `templates: {t: {domain: "x\${hosting_service.b.id}"}}\n${USE}`,
      ['2:27 <- 4:17 config.reference: No resource hosting_service.b is declared. Did you mean "hosting_service.a"?'],
    ],
    [
      "reference to nothing in a parameter",
      `templates: {t: {parameters: {d: }, domain: "\${d}"}}\nservices:\n  a: {template: t, with: {d: "\${hosting_service.b.id}"}}\n`,
      ['4:31 <- 2:44 config.reference: No resource hosting_service.b is declared. Did you mean "hosting_service.a"?'],
    ],
    [
      "with without template",
      "services:\n  a: {with: {d: 1}}\n",
      ["3:7 config.template: `with` requires a `template`"],
    ],
    [
      "with that is no map",
      `templates: {t: {term: 1}}\nservices:\n  a: {template: t, with: [d]}\n`,
      ["4:26 config.template: `with` must be a map of parameters"],
    ],
    [
      "replace of nothing",
      `templates: {t: {grants: {}}}\nservices:\n  a: {template: t, replace: [grant]}\n`,
      ['4:30 config.template: "grant" does not exist, so it cannot be replaced. Did you mean "grants"?'],
    ],
    [
      "replace that is no list",
      "services:\n  a: {term: 1, replace: grants}\n",
      ["3:25 config.template: `replace` must be a list of attributes"],
    ],
    [
      "templates that are no map",
      "templates: [a]\n",
      ["2:12 config.template: `templates` must be a map of templates by name"],
    ],
    [
      "template that is no map",
      "templates: {a: 1}\n",
      ['2:16 config.template: The template "a" must be a map of attributes'],
    ],
    [
      "parameters that are no map",
      `templates: {t: {parameters: [d], term: 1}}\n`,
      ['2:29 config.template: `parameters` of the template "t" must be a map'],
    ],
    [
      "unknown section of defaults",
      "defaults: {service: {term: 1}}\n",
      ['2:12 config.template: `defaults` has no section "service". Did you mean "services"?'],
    ],
    [
      "a template in defaults",
      "defaults: {services: {template: t}}\n",
      ['2:23 config.template: `defaults` of `services` cannot have "template"'],
    ],
    [
      "defaults twice",
      "defaults: {services: {term: 1}}\n---\ndefaults: {services: {term: 1}}\n",
      [
        "2:12 config.duplicate: `defaults` of `services` is declared twice",
        "4:12 config.duplicate: `defaults` of `services` is declared twice",
      ],
    ],
    [
      "a template twice",
      "templates: {t: {}}\n---\ntemplates: {t: {}}\n",
      [
        '2:13 config.duplicate: The template "t" is declared twice',
        '4:13 config.duplicate: The template "t" is declared twice',
      ],
    ],
    [
      "a $ before a reference",
      `templates: {t: {parameters: {d: }, domain: "\${d}\${env.X}"}}\nservices:\n  a: {template: t, with: {d: $}}\n`,
      ["2:44 <- 4:17 config.template: A `$` directly before `${` is not allowed"],
    ],
  ])("%s", (_, text, found) => {
    expect(mistakes(text)).toEqual(found);
  });

  it("once for a template that many blocks use", () => {
    const blocks = Array.from({ length: 50 }, (_, i) => `  s${i}: {template: t}\n`).join("");
    expect(mistakes(`templates: {t: {domian: x}}\nservices:\n${blocks}`)).toHaveLength(1);
  });

  it("without further errors about references to an omitted block", () => {
    const text = "services:\n  a: {template: none}\nwebhooks:\n  h: {url: '${hosting_service.a.id}'}\n";
    expect(mistakes(text)).toEqual(['3:17 config.template: No template "none" is declared.']);
  });
});

describe("strings with parameters", () => {
  it("contain no reference that none of their parts contained", () => {
    const piece = fc.constantFrom("$", "{", "}", "env.X", "a", "$${", "x}");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), fc.array(piece, { maxLength: 4 }), (left, right) => {
        const [a, b] = [left.join(""), right.join("")];
        fc.pre(![a, b].some((text) => text.replaceAll("$${", "").includes("${")));
        const { partial, diagnostics } = declare(`
templates: {t: {parameters: {a: , b: }, url: "\${a}-", labels: {x: "\${a}\${b}"}}}
webhooks:
  w: {template: t, with: ${JSON.stringify({ a, b })}}
`);
        expect(diagnostics).toEqual([]);
        const [webhook] = partial?.resources ?? [];
        const plain = (text: string) => text.replaceAll("$${", "${");
        const value = webhook?.evaluate("labels", { env: () => "secret", resource: () => undefined });
        expect(value).toEqual({ x: plain(a) + plain(b) });
      }),
    );
  });
});

describe("a declaration that grows exponentially", () => {
  const chain = (line: (i: number) => string) => Array.from({ length: 40 }, (_, i) => line(i)).join("\n");
  it.each([
    [
      "lists of parameters",
      chain((i) => `  t${i}: {parameters: {p: }, template: t${i + 1}, with: {p: ["\${p}", "\${p}"]}}`),
      '  t40: {parameters: {p: }, events: "${p}"}',
    ],
    [
      "texts of parameters",
      chain((i) => `  t${i}: {parameters: {p: }, template: t${i + 1}, with: {p: "\${p}\${p}"}}`),
      '  t40: {parameters: {p: }, url: "${p}"}',
    ],
    [
      "keys of parameters",
      chain((i) => `  t${i}: {parameters: {p: }, template: t${i + 1}, with: {p: "\${p}\${p}"}}`),
      '  t40: {parameters: {p: }, labels: {"${p}": 1}}',
    ],
    ["texts of one template", `  t0: {parameters: {p: ${"x".repeat(100_000)}}, url: "${"${p}".repeat(10_000)}"}`, ""],
  ])("through %s is rejected before it is large", (_, templates, last) => {
    const { diagnostics } = declare(
      `templates:\n${templates}\n${last}\nwebhooks:\n  w: {template: t0, with: {p: x${"y".repeat(20)}}}\n`.replace(
        /, with: \{p: xy+\}(?=\}\n$)/,
        last === "" ? "" : "$&",
      ),
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(["config.too_large"]);
  });

  it("through defaults is rejected too", () => {
    const labels = `[${"x,".repeat(1000)}]`;
    const blocks = Array.from({ length: 300 }, (_, i) => `  w${i}: {url: u}\n`).join("");
    const { diagnostics } = declare(`defaults: {webhooks: {labels: {x: ${labels}}}}\nwebhooks:\n${blocks}`);
    expect(diagnostics.map(({ code }) => code)).toEqual(["config.too_large"]);
  });

  it("in an endless chain of templates is rejected", () => {
    const templates = Array.from({ length: 60 }, (_, i) => `  t${i}: {template: t${i + 1}}`).join("\n");
    expect(mistakes(`templates:\n${templates}\n  t60: {url: u}\nwebhooks:\n  w: {template: t0}\n`)[0]).toMatch(
      /Templates use each other more than 50 levels deep/,
    );
  });
});

const source = new Source({ path: "a.yaml", text: "" });
const span = source.span(0, 0);
const treeOf = (value: Json): Tree => {
  if (Array.isArray(value)) return { form: "list", items: value.map(treeOf), span };
  if (value === null || typeof value !== "object") return { form: "leaf", value, span };
  const entries = Object.entries(value).map(
    ([key, one]) => [key, { key, keySpan: span, value: treeOf(one as Json) }] as const,
  );
  return { form: "map", entries: new Map(entries), span };
};

/** Draws layers of maps with equal shapes: the keys `m` and `n` contain maps, and other keys contain no map. */
const layers = fc.letrec<{ map: { [key: string]: Json } }>((tie) => ({
  map: fc
    .tuple(
      fc.dictionary(fc.constantFrom("a", "b", "c"), fc.oneof(fc.integer(), fc.string(), fc.constant([1]))),
      fc.dictionary(
        fc.constantFrom("m", "n"),
        fc.oneof({ maxDepth: 3, withCrossShrink: true }, fc.constant({}), tie("map")),
      ),
    )
    .map(([leaves, maps]) => ({ ...leaves, ...(maps as object) })),
})).map;
const merged = (...of: Json[]) =>
  toJson(of.map((one) => treeOf(one) as MapTree).reduce((base, over) => merge(base, over)));

describe("merge", () => {
  it("has the upper value unless both values are maps", () => {
    fc.assert(
      fc.property(layers, layers, (a, b) => {
        const result = merged(a, b) as Record<string, Json>;
        for (const key of ["a", "b", "c"]) expect(result[key]).toEqual(key in b ? b[key] : a[key]);
      }),
      { numRuns: runs(100) },
    );
  });

  it("contains no part of a replaced lower value", () => {
    fc.assert(
      fc.property(layers, layers, (a, b) => {
        const result = toJson(merge(treeOf(a) as MapTree, treeOf(b) as MapTree, ["m"])) as Record<string, Json>;
        expect(result.m).toEqual(b.m);
      }),
      { numRuns: runs(100) },
    );
  });
});
