/** Sends spans and metrics of a command to an OpenTelemetry collector. Loads the optional packages on demand. */
import type { RequestEvent } from "../core/api/index.ts";
import { VERSION } from "../core/api/version.ts";
import { type ApplyEvent, HostformError } from "../core/model/index.ts";
import { problem } from "./messages.ts";
import type { ProjectParts } from "./source.ts";

/** Receiver of the spans of a run. */
export interface Trace {
  /** Runs a task in a span. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  request(event: RequestEvent): void;
  change(event: ApplyEvent): void;
  /** Sends all spans and metrics. Never throws. */
  end(): Promise<void>;
}

type Attributes = Readonly<Record<string, string | number>>;

interface Span {
  setAttributes(attributes: Attributes): void;
  setStatus(status: { readonly code: number; readonly message?: string }): void;
  end(at: number): void;
}

interface SpanOptions {
  readonly startTime: number;
  readonly attributes?: Attributes;
}

/** The used part of `@opentelemetry/api`. */
interface Api {
  readonly trace: {
    getTracer(name: string, version: string): {
      startSpan(name: string, options: SpanOptions): Span;
      startActiveSpan<T>(name: string, options: SpanOptions, work: (span: Span) => T): T;
    };
  };
  readonly metrics: {
    getMeter(name: string, version: string): {
      createHistogram(name: string, options: { readonly unit: string }): {
        record(value: number, attributes: Attributes): void;
      };
    };
  };
}

/** The used part of `@opentelemetry/sdk-node`. */
interface Sdk {
  readonly NodeSDK: new (
    options: object,
  ) => { start(): void; shutdown(): Promise<void> };
}

const FAILED = 2;
/** Time limit of the last export, in milliseconds. */
const EXPORT_MS = 5_000;

/**
 * Starts the SDK, which reads the variables `OTEL_…`. Attributes contain no query, no header, no message of an error and no value of
 * a resource.
 * @param load imports a package.
 * @returns undefined after a warning if a package is missing.
 */
export async function startTrace(
  { source: { env }, host: { clock }, log, redaction }: ProjectParts,
  load: (name: string) => Promise<unknown> = (name) => import(name),
): Promise<Trace | undefined> {
  // The other detectors read the arguments of the process, which may contain secrets.
  process.env.OTEL_NODE_RESOURCE_DETECTORS ||= "env";
  process.env.OTEL_METRICS_EXPORTER ||= "otlp";
  const names = ["@opentelemetry/api", "@opentelemetry/sdk-node"];
  const loaded = await Promise.all(names.map(load)).catch(() => undefined);
  if (loaded === undefined) {
    log.warn([problem("telemetry.missing", {})]);
    return undefined;
  }
  const [api, { NodeSDK }] = loaded as [Api, Sdk];
  const sdk = new NodeSDK({ serviceName: env.OTEL_SERVICE_NAME || "hostform" });
  sdk.start();
  const tracer = api.trace.getTracer("hostform", VERSION);
  const meter = api.metrics.getMeter("hostform", VERSION);
  const histogram = (of: string) => meter.createHistogram(`hostform.${of}.duration`, { unit: "s" });
  const durations = { run: histogram("run"), request: histogram("request"), change: histogram("change") };
  const report = (of: "request" | "change", name: string, seconds: number, all: Attributes, few: Attributes) => {
    const attributes = redaction.redactValue({ ...few, ...all }) as Attributes;
    const now = clock.now();
    const span = tracer.startSpan(name, { startTime: now - seconds * 1000, attributes });
    if (few["error.type"] !== undefined) span.setStatus({ code: FAILED });
    span.end(now);
    durations[of].record(seconds, few);
  };
  return {
    run: (name, work) =>
      tracer.startActiveSpan(`hostform ${name}`, { startTime: clock.now() }, async (span) => {
        const started = clock.monotonic();
        let error: Attributes = {};
        try {
          return await work();
        } catch (thrown) {
          const code = thrown instanceof HostformError ? thrown.diagnostics[0]?.code : undefined;
          error = { "error.type": code ?? "internal" };
          span.setStatus({ code: FAILED });
          throw thrown;
        } finally {
          span.setAttributes(error);
          span.end(clock.now());
          durations.run.record((clock.monotonic() - started) / 1000, { "hostform.command": name, ...error });
        }
      }),
    request({ endpoint, method, path, attempt, status, error, ms, waitedMs }) {
      const failure = error ?? (status !== undefined && status >= 400 ? String(status) : undefined);
      const few = {
        "http.request.method": method,
        "hostform.endpoint": endpoint,
        ...(status !== undefined && { "http.response.status_code": status }),
        ...(failure !== undefined && { "error.type": failure }),
      };
      const all = {
        "url.path": path.replace(/\?.*$/s, ""),
        "http.request.resend_count": attempt - 1,
        "hostform.waited_ms": waitedMs,
      };
      report("request", `${method} ${endpoint}`, ms / 1000, all, few);
    },
    change(event) {
      if (event.type !== "complete" && event.type !== "errored") return;
      const { action, address, seconds, outcome } = event;
      const code = event.type === "errored" ? (outcome.diagnostics[0]?.code ?? "internal") : undefined;
      const few = { "hostform.action": action, ...(code !== undefined && { "error.type": code }) };
      report("change", `${action} ${address.replace(/[.[].*$/s, "")}`, seconds, { "hostform.address": address }, few);
    },
    async end() {
      const over = new AbortController();
      const limit = clock.sleep(EXPORT_MS, over.signal);
      await Promise.race([sdk.shutdown(), limit]).catch(() => {});
      over.abort();
      await limit.catch(() => {});
    },
  };
}
