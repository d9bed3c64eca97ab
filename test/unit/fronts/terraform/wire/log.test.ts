import { describe, expect, it } from "vitest";
import { isLogged, jsonLog } from "../../../../../src/fronts/terraform/wire/log.ts";

describe("isLogged", () => {
  it.each([
    [{}, false],
    [{ TF_LOG: "" }, false],
    [{ TF_LOG: "OFF" }, false],
    [{ TF_LOG: "off", TF_LOG_PROVIDER: "debug" }, true],
    [{ TF_LOG: "TRACE" }, true],
    [{ TF_LOG_PROVIDER: "json" }, true],
  ])("%o: %s", (env, expected) => {
    expect(isLogged(env)).toBe(expected);
  });
});

describe("jsonLog", () => {
  const lines: string[] = [];
  const log = jsonLog({ write: (line) => lines.push(line), now: () => Date.parse("2026-11-21T10:00:00.007Z") });

  it("writes lines that Terraform takes apart: six digits of a second, a message that is a string", () => {
    log("warn", "two\nlines", { count: 2 });
    expect(lines.pop()).toBe(
      '{"count":2,"@level":"warn","@message":"two\\nlines","@module":"hosting","@timestamp":"2026-11-21T10:00:00.007000Z"}',
    );
  });

  it("lets no field stand in for what Terraform reads", () => {
    log("info", "hello", { "@message": 7, "@timestamp": "x" });
    expect(JSON.parse(lines.pop() ?? "")).toMatchObject({
      "@message": "hello",
      "@timestamp": "2026-11-21T10:00:00.007000Z",
    });
  });
});
