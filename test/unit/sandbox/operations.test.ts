import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { OPERATIONS, patternOf } from "../../../src/sandbox/operations.ts";
import { ENDPOINTS } from "../../../src/sandbox/routes/index.ts";

test("every endpoint has one name, and every name has an endpoint", () => {
  const endpoints = ENDPOINTS.map(({ method, path: below }) => `${method} ${below}`);
  expect(Object.values(OPERATIONS).toSorted()).toEqual(endpoints.toSorted());
});

test("the names equal those in schemas/openapi.yaml", () => {
  const file = path.resolve(import.meta.dirname, "../../../schemas/openapi.yaml");
  const documented: Record<string, string> = {};
  let [where, method] = ["", ""];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    where = /^ {2}(\/api\/v1\/\S+):$/.exec(line)?.[1] ?? where;
    method = /^ {4}(get|post|delete):$/.exec(line)?.[1] ?? method;
    const name = /^ {6}operationId: (\w+)$/.exec(line)?.[1];
    if (name !== undefined)
      documented[name] = `${method.toUpperCase()} ${where.replace("/api/v1", "").replaceAll(/\{(\w+)\}/g, ":$1")}`;
  }
  expect(OPERATIONS).toEqual(documented);
});

test("a pattern accepts a name, or a method with a path", () => {
  expect(patternOf("orderService")).toEqual({ method: "POST", path: "/services" });
  expect(patternOf("GET /services/:id/*")).toEqual({ method: "GET", path: "/services/:id/*" });
});

test.each(["toString", "services", "POST", "POST services", 7, null])("%j is no operation", (operation) => {
  expect(() => patternOf(operation)).toThrow(/There is no operation .*orderService/);
});
