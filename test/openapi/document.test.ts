import path from "node:path";
import { createConfig, lint } from "@redocly/openapi-core";
import { describe, expect, it } from "vitest";
import { PROFILE_SWITCHES } from "../../src/sandbox/index.ts";
import { DOCUMENT_FILE, operationsOf, readDocument } from "../support/openapi/document.ts";
import { Schemas } from "../support/openapi/schemas.ts";

/** Table of §4, copied from the specification. */
const TABLE = `
GET /api/v1/plans view
GET /api/v1/services view
GET /api/v1/services/{id} view
POST /api/v1/services technical
POST /api/v1/services/{id}/suspend technical
POST /api/v1/services/{id}/unsuspend technical
POST /api/v1/services/{id}/password technical
GET /api/v1/services/{id}/panel-sso technical
GET /api/v1/services/{id}/grants technical
POST /api/v1/services/{id}/grants technical
DELETE /api/v1/services/{id}/grants/{grantId} technical
GET /api/v1/invoices billing
GET /api/v1/invoices/{id} billing
GET /api/v1/webhooks technical
POST /api/v1/webhooks technical
DELETE /api/v1/webhooks/{id} technical
GET /api/v1/domains/check view
POST /api/v1/domains/check view
POST /api/v1/domains technical
GET /api/v1/accounts view
POST /api/v1/accounts billing
GET /api/v1/migration-requests view
POST /api/v1/migration-requests technical
GET /api/v1/migration-requests/{id} view
`;

/** Profile switches that change no request and no response form, each with the reason. */
const NOT_ON_THE_WIRE: Readonly<Record<string, string>> = {
  list_lag: "when a record is listed is not part of any answer's form",
  refused_key: "which refusal of an order comes is not part of its form",
  weather: "failures that come and go are not part of any answer's form",
};

const document = readDocument();

/** Yields each object of the document with its path. */
function* parts(value: unknown, at: string): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  // Alternatives and examples are not parts of the document.
  for (const [name, inner] of Object.entries(value)) {
    if (name !== "x-alternatives" && name !== "example") yield* parts(inner, `${at}/${name}`);
  }
}

const all = [...parts(document, "#")];
const switches = Object.entries(PROFILE_SWITCHES).map(([name, values]) => [name, [...values].sort()] as const);

describe("schemas/openapi.yaml", () => {
  it("passes the linter with its recommended rules", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lint({ ref: DOCUMENT_FILE, config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it("is checked by a linter that reports the error of not-clean.yaml", async () => {
    const config = await createConfig({ extends: ["recommended"], rules: { "operation-operationId": "off" } });
    const problems = await lint({ ref: path.join(import.meta.dirname, "not-clean.yaml"), config });
    expect(problems.map(({ ruleId }) => ruleId)).toContain("operation-4xx-response");
  });

  it("has the endpoints of the specification with their abilities, and no others", () => {
    const listed = operationsOf(document).map(
      ({ method, path: at, operation }) => `${method} ${at} ${operation["x-ability"]}`,
    );
    expect(listed.toSorted()).toEqual(TABLE.trim().split("\n").toSorted());
  });

  it("documents the possible statuses of each endpoint", () => {
    for (const { operation } of operationsOf(document)) {
      const statuses = Object.keys(operation.responses);
      // §5, §7 and §8 allow these statuses for every request.
      expect(statuses).toEqual(expect.arrayContaining(["401", "403", "429", "5XX"]));
      expect(statuses.some((status) => status.startsWith("2"))).toBe(true);
      expect(statuses.includes("409")).toBe(operation.operationId === "orderService");
    }
  });

  it("has a clause and the alternatives for each part that is not specified", () => {
    const bare = all
      .filter(([, part]) => part["x-unspecified"] === true)
      .filter(
        ([, part]) =>
          !/^§\d/.test(String(part["x-clause"])) || (part["x-alternatives"] ?? part["x-when"] ?? part.in) === undefined,
      );
    expect(bare.map(([at]) => at)).toEqual([]);
    expect(all.filter(([, part]) => "x-alternatives" in part && part["x-unspecified"] !== true)).toEqual([]);
    expect(all.filter(([, part]) => part["x-unspecified"] === true).length).toBeGreaterThan(60);
  });

  it("has each switch of the sandbox's profiles, with a sentence for each value", () => {
    const described = all.flatMap(([at, part]) => {
      if (part["x-switch"] === undefined) return [];
      return [[String(part["x-switch"]), Object.keys(part["x-alternatives"] as object).sort(), at] as const];
    });
    const wrong = described.filter(
      ([name, values]) => JSON.stringify(switches.find(([one]) => one === name)?.[1]) !== JSON.stringify(values),
    );
    expect(wrong).toEqual([]);
    // If the default equals the specification, the document describes the switch at the clause that the other values
    // contradict.
    const against = all.flatMap(([, part]) => Object.keys((part["x-contradicts"] as object | undefined) ?? {}));
    const contradicted = Object.entries(PROFILE_SWITCHES).flatMap(([name, [, ...others]]) =>
      others.every((value) => against.includes(`${name}=${value}`)) ? [name] : [],
    );
    const names = new Set([...described.map(([name]) => name), ...contradicted]);
    expect(switches.map(([name]) => name).filter((name) => !names.has(name))).toEqual(Object.keys(NOT_ON_THE_WIRE));
  });

  it("names only switches and values of profiles", () => {
    const settings = all.flatMap(([, part]) => [
      ...[part["x-when"] ?? []].flat().flatMap((one) => String(one).split(" & ")),
      ...Object.keys((part["x-contradicts"] as object | undefined) ?? {}),
      ...[part["x-empty-body"] ?? []].flat().map(String),
    ]);
    const known = switches.flatMap(([name, values]) => values.map((value) => `${name}=${value}`));
    expect(settings.filter((setting) => !known.includes(setting))).toEqual([]);
    expect(settings.length).toBeGreaterThan(50);
  });

  it("has schemas that compile, and examples that conform", () => {
    const schemas = new Schemas(document);
    for (const name of Object.keys(document.components.schemas)) {
      schemas.mistakes({ $ref: `#/components/schemas/${name}` }, null, name, undefined);
    }
    const examples = operationsOf(document).flatMap(({ operation }) =>
      Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema, example }) =>
        schemas.mistakes(schema, example, operation.operationId, undefined),
      ),
    );
    expect(examples).toEqual([]);
  });
});
