import * as api from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { HostformError } from "../../../src/core/model/index.ts";
import { Redaction } from "../../../src/project/redaction.ts";
import type { ProjectParts } from "../../../src/project/source.ts";
import { startTrace } from "../../../src/project/telemetry.ts";

const SECRET = "canary-of-the-telemetry";
const ENV = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
const REQUEST = {
  endpoint: "getService",
  method: "GET",
  path: "/services/7",
  attempt: 1,
  ms: 40,
  waitedMs: 0,
  left: 59,
};

interface Recorded {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  status?: number;
  readonly start: unknown;
  end?: unknown;
}

/** Starts a trace with a recorder in place of the SDK. */
async function traced(env: Record<string, string> = ENV) {
  const spans: Recorded[] = [];
  const points: unknown[] = [];
  const warnings: string[] = [];
  let ended = 0;
  const tracer = {
    startSpan(name: string, { startTime, attributes }: { startTime: number; attributes: object }) {
      const span: Recorded = { name, start: startTime, attributes: { ...attributes } };
      spans.push(span);
      const own = {
        setStatus({ code }: { code: number }) {
          span.status = code;
          return own;
        },
        setAttributes: (more: object) => Object.assign(span.attributes, more),
        end(at: number) {
          span.end = at;
        },
      };
      return own;
    },
  };
  const meter = { createHistogram: () => ({ record: (seconds: number, of: object) => points.push([seconds, of]) }) };
  class NodeSDK {
    start() {}
    async shutdown() {
      ended++;
      throw new Error("the collector does not respond");
    }
  }
  const redaction = new Redaction();
  redaction.learn("token", SECRET);
  const parts = {
    source: { env },
    host: { clock: { now: () => 1_000_000 } },
    log: { warn: ({ code }: { code: string }) => void warnings.push(code) },
    redaction,
  } as unknown as ProjectParts;
  const fake = { ...api, trace: { ...api.trace, getTracer: () => tracer }, metrics: { getMeter: () => meter } };
  Object.assign(fake.trace, { setSpan: (context: api.Context) => context });
  const start = (load: () => Promise<never>) => startTrace(parts, load);
  const trace = await start(async () => ({ api: fake, NodeSDK }) as never);
  return { trace, start, spans, points, warnings, ended: () => ended };
}

describe("telemetry", () => {
  it("starts only with an endpoint", async () => {
    expect((await traced({})).trace).toBeUndefined();
  });

  it("is a warning if a package is missing", async () => {
    const { start, warnings } = await traced();
    expect(await start(() => Promise.reject(new Error("ERR_MODULE_NOT_FOUND")))).toBeUndefined();
    expect(warnings).toEqual(["monitor.telemetry"]);
  });

  it("has a span for each run, with the code of its error", async () => {
    const { trace, spans, points } = await traced();
    expect(await trace?.run("plan", async () => 7)).toBe(7);
    const error = new HostformError([{ severity: "error", code: "api.timeout", summary: SECRET }]);
    await expect(trace?.run("plan", () => Promise.reject(error))).rejects.toBe(error);
    expect(spans.map(({ name, status, attributes }) => [name, status, attributes])).toEqual([
      ["run plan", undefined, {}],
      ["run plan", api.SpanStatusCode.ERROR, { "error.type": "api.timeout" }],
    ]);
    expect(points).toHaveLength(2);
  });

  it.each([
    ["a success", { status: 200 }, undefined],
    ["a status", { status: 503 }, "503"],
    ["no response", { error: "api.timeout" }, "api.timeout"],
  ])("has a span for each request: %s", async (_, outcome, error) => {
    const { trace, spans } = await traced();
    trace?.request({ ...REQUEST, ...outcome } as never);
    expect(spans).toMatchObject([{ name: "request getService", start: 999_960, end: 1_000_000 }]);
    expect(spans[0]?.attributes["error.type"]).toBe(error);
  });

  it("contains no query and no secret", async () => {
    const { trace, spans, points } = await traced();
    trace?.request({ ...REQUEST, path: `/domains/check?domains=${SECRET}` } as never);
    trace?.request({ ...REQUEST, path: `/services/${SECRET}` } as never);
    const event = { type: "complete", address: `hosting_service.${SECRET}`, action: "order", seconds: 1, outcome: {} };
    trace?.change(event as never);
    expect(spans.map(({ attributes }) => attributes["url.path"])).toEqual([
      "/domains/check",
      expect.any(String),
      undefined,
    ]);
    expect(JSON.stringify([spans, points])).not.toContain(SECRET);
  });

  it("has a span for each change that ended", async () => {
    const { trace, spans } = await traced();
    const event = { address: "hosting_service.www", action: "order", seconds: 2 };
    trace?.change({ ...event, type: "start" } as never);
    trace?.change({ ...event, type: "errored", outcome: { diagnostics: [{ code: "api.payment" }] } } as never);
    expect(spans).toMatchObject([
      { name: "change order", start: 998_000, status: 2, attributes: { "hostform.address": "hosting_service.www" } },
    ]);
  });

  it("loses only its data if the collector does not respond", async () => {
    const { trace, ended } = await traced();
    await trace?.end();
    expect(ended()).toBe(1);
  });
});
