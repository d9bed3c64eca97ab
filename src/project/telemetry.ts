/** Sends spans and metrics of a command to an OpenTelemetry collector. Loads its optional packages only if needed. */
import type { Attributes } from "@opentelemetry/api";
import type { RequestEvent } from "../core/api/index.ts";
import { VERSION } from "../core/api/version.ts";
import { type ApplyEvent, HostformError } from "../core/model/index.ts";
import { problem } from "./messages.ts";
import type { ProjectParts } from "./source.ts";

/** The packages of OpenTelemetry. */
interface Packages {
  readonly api: typeof import("@opentelemetry/api");
  readonly NodeSDK: new (options: object) => { start(): void; shutdown(): Promise<void> };
}

/** Imports the packages by name, because they may be missing in a build. */
async function packages(): Promise<Packages> {
  const names = ["@opentelemetry/api", "@opentelemetry/sdk-node"];
  const [api, sdk] = await Promise.all(names.map((name) => import(name)));
  return { api, ...sdk };
}

/**
 * Starts the SDK, which reads the variables `OTEL_…`. Attributes contain an address, a path without query, or a code. They
 * never contain a header, a message or any other value of a resource.
 * @returns undefined without a collector. Also undefined if a package is missing, after a warning.
 */
export async function startTrace(
  { source: { env }, host: { clock }, log, redaction }: ProjectParts,
  load: () => Promise<Packages> = packages,
) {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  // Other detectors read the process arguments, which may contain secrets.
  process.env.OTEL_NODE_RESOURCE_DETECTORS ||= "env";
  process.env.OTEL_METRICS_EXPORTER ||= "otlp";
  const loaded = await load().catch(() => log.warn(problem("monitor.telemetry")));
  if (!loaded) return undefined;
  const { api, NodeSDK } = loaded;
  const sdk = new NodeSDK({ serviceName: env.OTEL_SERVICE_NAME || "hostform" });
  sdk.start();
  const tracer = api.trace.getTracer("hostform", VERSION);
  const durations = api.metrics.getMeter("hostform", VERSION).createHistogram("hostform.duration", {
    unit: "s",
    advice: { explicitBucketBoundaries: [0.1, 1, 10, 60, 600] },
  });
  /** @param error Code of an error. */
  const begin = (of: "run" | "request" | "change", name: string, startTime: number, attributes: Attributes = {}) => {
    const span = tracer.startSpan(`${of} ${name}`, {
      startTime,
      attributes: redaction.redactValue(attributes) as Attributes,
    });
    const end = (error?: string) => {
      const failure = error === undefined ? {} : { "error.type": error };
      if (error !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR }).setAttributes(failure);
      span.end(clock.now());
      durations.record((clock.now() - startTime) / 1000, { of, name, ...failure });
    };
    return { span, end };
  };
  return {
    async run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const { span, end } = begin("run", name, clock.now());
      const task = api.context.with(api.trace.setSpan(api.context.active(), span), work);
      const codeOf = (error: unknown) => (error instanceof HostformError && error.diagnostics[0]?.code) || "internal";
      await task.then(
        () => end(),
        (error) => end(codeOf(error)),
      );
      return task;
    },
    request({ endpoint, method, path, attempt, status = 0, error, ms }: RequestEvent): void {
      const http = {
        "http.request.method": method,
        "http.response.status_code": status,
        "url.path": path.split("?")[0],
      };
      const attributes = { ...http, "http.request.resend_count": attempt - 1 };
      begin("request", endpoint, clock.now() - ms, attributes).end(
        error ?? (status < 400 ? undefined : String(status)),
      );
    },
    change(event: ApplyEvent): void {
      if (!("outcome" in event)) return;
      const { address, action, seconds, outcome, type } = event;
      const error = type === "errored" ? (outcome.diagnostics[0]?.code ?? "internal") : undefined;
      begin("change", action, clock.now() - seconds * 1000, { "hostform.address": address }).end(error);
    },
    /** Sends all spans and metrics. Never throws. */
    end: (): Promise<void> => sdk.shutdown().catch(() => {}),
  };
}
