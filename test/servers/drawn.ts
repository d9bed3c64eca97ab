/**
 * Random servers. A profile switch has a fixed set of values; this module generates arbitrary forms from a seed for
 * each gap of the specification. The servers follow all explicit rules. A server is a list of deviations from the
 * default server. Each deviation can be removed alone, so that a failure of a client can be reduced to its cause.
 */

import { type Json, put } from "../../src/sandbox/shape/rendering.ts";
import {
  type Add,
  accounts,
  created,
  Draw,
  ends,
  type Fill,
  grants,
  ids,
  kind,
  migrations,
  names,
  OPEN,
  profile,
  statuses,
  webhooks,
} from "./draw.ts";

/** One difference between a server and the default server. */
export interface Deviation {
  /** Number of the gap in the specification, or another subject. */
  readonly gap: number | "ids" | "ends" | "names" | "weather" | "clock";
  /** Path of the value in `ServerOptions`. A list, because a name may contain dots. */
  readonly path: readonly string[];
  readonly value: Json;
}

/** Returns the deviations of a seed. The same seed returns the same deviations. */
export function drawServer(seed: number | string): Deviation[] {
  const draw = new Draw(seed);
  const drawn: Deviation[] = [];
  for (const [gap, fill] of GAPS) {
    const add: Add = (path, value) => void drawn.push({ gap, path, value });
    fill(draw.of(String(gap)), add);
  }
  return drawn;
}

/** Returns the deviations as options of a sandbox. The caller sets its clock with `hostAheadSeconds`. */
export function serverOptions(deviations: readonly Deviation[]): {
  readonly sandbox: Readonly<Record<string, Json>>;
  readonly hostAheadSeconds: number;
} {
  const whole: Record<string, Json> = {};
  for (const { path, value } of deviations) put(whole, path, structuredClone(value));
  const { hostAheadSeconds = 0, ...sandbox } = whole;
  return { sandbox, hostAheadSeconds: Number(hostAheadSeconds) };
}

/** Returns a deviation as one line: `grant.fields.email = "user.email"`. */
export function deviationText({ path, value }: Deviation): string {
  return `${path.join(".")} = ${JSON.stringify(value)}`;
}

const list = (...path: string[]): string[] => ["rendering", "lists", ...path];
const answer = (...path: string[]): string[] => ["rendering", "answers", ...path];
const GAPS: readonly (readonly [Deviation["gap"], Fill])[] = [
  [1, envelope],
  [2, refusals],
  [3, tooMany],
  [4, (draw, add) => draw.once(0.4) && add(profile("field_errors"), "texts")],
  [5, repetitions],
  [6, statuses("status")],
  [7, statuses("provisioning_status")],
  [8, orders],
  [9, (draw, add) => draw.vary(add, 0.5, profile("billing_cycle"), ["months", "unit", "integer"])],
  [10, (draw, add) => draw.vary(add, 0.5, profile("product_type"), ["title", "other"])],
  [11, (draw, add) => draw.vary(add, 0.5, profile("invoice_status"), ["open", "upper"])],
  [12, (draw, add) => draw.once(0.3) && add(profile("money"), "major")],
  [13, plans],
  [14, jobs],
  [15, secrets],
  [16, grants],
  [17, webhooks],
  [18, checks],
  [19, registrations],
  [20, accounts],
  [21, migrations],
  [22, (draw, add) => draw.vary(add, 0.4, profile("event_data"), ["nested", "id"])],
  [24, instants],
  [25, (draw, add) => draw.vary(add, 0.6, profile("order"), ["oldest", "scattered"])],
  [26, memory],
  ["ids", ids],
  ["ends", ends],
  ["names", names],
  ["clock", (draw, add) => draw.once(0.4) && add(["hostAheadSeconds"], draw.around([90, 600, 3600, 14_400, 50_000]))],
  ["weather", (draw, add) => draw.once(0.12) && add(profile("weather"), "flaky")],
];

/** Gap 1: positions of the items, and names of the metadata. */
function envelope(draw: Draw, add: Add): void {
  if (draw.once(0.2)) {
    const shapes = ["data_meta", "items_pagination", "named_has_more", "flat", "data_only", "array"];
    add(profile("envelope"), draw.oneOf(shapes));
    return;
  }
  const items = draw.weighted({ data: 4, items: 2, results: 2, records: 1, "*": 2, "data.items": 1, "data.*": 1 });
  const rare = draw.once(0.15)
    ? draw.oneOf(["rows", "list", "entries", "elements", "content", "response.*", "_embedded.*"])
    : undefined;
  if ((rare ?? items) !== "data") add(list("items"), rare ?? items);
  const places = ["", ..."meta pagination paging meta.pagination page_info _meta data page".split(" ")];
  const place = draw.oneOf(places);
  const at = (name: string) => (place === "" || (place === "data" && items === "data") ? name : `${place}.${name}`);
  const camel = draw.once(0.3);
  const named = (name: string) => at(camel ? name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : name);
  const FACTS: Readonly<Record<string, readonly [number, readonly string[]]>> = {
    page: [0.7, ["current_page", "page", "page_number", "number", "current"]],
    last: [0.55, ["last_page", "total_pages", "pages", "page_count", "num_pages"]],
    total: [0.55, ["total", "total_count", "total_items", "total_results", "total_elements"]],
    per_page: [0.55, ["per_page", "page_size", "limit", "size", "items_per_page"]],
    count: [0.2, ["count"]],
    more: [0.3, ["has_more", "has_next", "has_next_page", "more", "has_more_pages"]],
    next: [0.3, ["next", "next_page_url", "links.next", "next_url"]],
    next_page: [0.15, ["next_page"]],
  };
  for (const [fact, [likely, words]] of Object.entries(FACTS)) {
    if (draw.once(likely)) add(list("facts", fact), named(draw.oneOf(words)));
    else if (USUAL.has(fact)) add(list("facts", fact), null);
  }
  draw.vary(add, 0.08, list("from0"), ["metadata", "both"]);
  if (draw.once(0.1)) add(list("texts"), true);
  draw.vary(add, 0.25, list("empty"), ["null", "object", "absent"]);
  draw.vary(add, 0.3, list("past"), ["missing", "repeats"]);
  if (draw.once(0.03)) add(list("byId"), true);
  for (const [name, value] of draw.some(0.12, ENVELOPE_EXTRAS)) add(list("more", name), value);
}

/** Metadata of the default envelope. */
const USUAL = new Set(["page", "last", "total", "per_page", "next"]);

const ENVELOPE_EXTRAS: readonly (readonly [string, Json])[] = [
  ["success", true],
  ["status", "success"],
  ["code", 200],
  ["message", "OK"],
  ["errors", []],
  ["error", null],
  ["warnings", []],
  ["filters", {}],
  ["request_id", "req_8f2c"],
  ["object", "list"],
  ["included", []],
  ["sort", ["-id"]],
];

/** Gap 2: bodies of errors that are not specified. */
function refusals(draw: Draw, add: Add): void {
  if (draw.once(0.4)) add(profile("error_bodies"), draw.oneOf(["html", "empty"]));
  else
    draw.vary(add, 0.6, ["rendering", "refusals"], ["error", "error_object", "errors", "detail", "problem", "success"]);
}

/** Gap 3: the 429 response, and the headers of the limit. */
function tooMany(draw: Draw, add: Add): void {
  draw.vary(add, 0.5, profile("too_many"), ["text", "empty"]);
  draw.vary(add, 0.6, profile("retry_after"), ["date", "none"]);
  const rates = ["draft3", "draft7", "draft9", "dashed", "limit_alone"];
  if (draw.once(0.5)) add(profile("rate_headers"), "none");
  else draw.vary(add, 0.7, ["rendering", "headers", "rate"], rates);
  draw.vary(add, 0.5, profile("rate"), ["sliding", "bucket"]);
  const types = ["application/json; charset=utf-8", "application/vnd.api+json", "text/json", "application/hal+json"];
  draw.vary(add, 0.3, ["rendering", "headers", "json"], types);
}

/** Gap 8: positions of the service and the invoice in the response to an order. */
function orders(draw: Draw, add: Add): void {
  if (draw.once(0.25)) {
    add(profile("creation"), draw.oneOf(["beside", "split", "invoice_wrapped"]));
  } else if (draw.once(0.7)) {
    const order = draw.oneOf(["data", "data", "data.service", "data.order", "service", "order", "result", "data.item"]);
    const beside = ["data.invoice", "invoice", "data.invoice", "included.invoice", "meta.invoice", `${order}.invoice`];
    add(answer("ordered", "order"), order);
    add(answer("ordered", "invoice"), draw.oneOf(beside));
  }
  draw.vary(add, 0.3, answer("ordered", "status"), [200, 202]);
}

/** Gap 13: fields of a plan. The specification defines only the id and the Manage fields. */
function plans(draw: Draw, add: Add): void {
  const priced = draw.weighted({ price: 5, id: 2, prices: 2, rows: 1, priceless: 1, currencyless: 1 });
  if (priced === "id" || priced === "priceless" || priced === "prices") add(profile("plan"), priced);
  if (priced === "rows") {
    add(profile("plan"), "prices");
    add(kind("plan", "values", "prices"), "rows");
  }
  if (priced === "currencyless") {
    add(kind("plan", "fields", "currency"), null);
    add(kind("plan", "fields", "prices"), null);
  }
  if (priced === "price" && draw.once(0.3)) add(kind("plan", "fields", "prices"), null);
  draw.vary(add, 0.2, kind("plan", "fields", "price"), ["amount", "list_price", "monthly_price", "cost"]);
  draw.vary(add, 0.1, kind("plan", "values", "price"), ["text", "decimals"]);
  draw.vary(add, 0.3, kind("plan", "fields", "name"), ["title", "label", "plan", "plan_name", "display_name"]);
  draw.vary(add, 0.3, kind("plan", "fields", "product_type"), ["type", "product.type", "product", "category", null]);
  draw.vary(add, 0.3, kind("plan", "fields", "billing_cycle"), ["cycle", "period", "interval", null]);
}

/** Gap 14: responses to suspend and unsuspend. */
function jobs(draw: Draw, add: Add): void {
  if (draw.once(0.3)) add(profile("queued"), draw.oneOf(["service", "no_content", "empty"]));
  else if (draw.once(0.6)) {
    const bodies: readonly Json[] = [
      { job_id: "5f0e", status: "queued" },
      { data: { job: { id: 77, state: "pending" } } },
      { status: "accepted" },
      { success: true },
      { data: null },
      { queued: true },
      {},
      [],
      true,
      null,
      "queued",
      { data: [] },
    ];
    add(answer("queued"), { status: draw.oneOf([200, 201, 202]), body: draw.oneOf(bodies) });
  }
  draw.vary(add, 0.7, ["jobSeconds"], [0, 5, 20, 60, 150, 280, 900]);
  draw.vary(add, 0.7, ["provisioningSeconds"], [0, 5, 60, 300, 1800]);
  const removed = draw.weighted({ usual: 5, empty: 3, other: 2 });
  if (removed === "empty") add(profile("bodies"), "empty204");
  if (removed === "other") {
    const bodies: readonly Json[] = [{ data: null }, { success: true }, {}, [], null, { deleted: true }, "OK"];
    add(answer("done"), { status: draw.oneOf([200, 202]), body: draw.oneOf(bodies) });
  }
}

/** Gap 15: secrets that the host returns once. */
function secrets(draw: Draw, add: Add): void {
  if (draw.once(0.2)) add(profile("password"), "new_password");
  else if (draw.once(0.5)) {
    const places = ["password", "data.new_password", "data.generated_password", "data.root_password", "newPassword"];
    const deeper = ["data.credentials.password", "credentials.password", "data.password.value", "result.password"];
    add(answer("password"), draw.oneOf(draw.once(0.3) ? deeper : places));
  }
  const urls = ["url", "data.sso_url", "data.login_url", "sso.url", "data.link", "redirect_url"];
  draw.vary(add, 0.4, answer("signOn"), urls);
}

/** Gap 18: results of an availability check. */
function checks(draw: Draw, add: Add): void {
  draw.vary(add, 0.5, profile("domain_check"), ["map", "is_available", "status"]);
  draw.vary(add, 0.4, answer("checked"), ["", "results", "domains", "data.results", "data.domains"]);
}

/** Gap 19: responses to a registration. No endpoint reads a registration. */
function registrations(draw: Draw, add: Add): void {
  if (draw.once(0.4)) add(profile("registrant"), "loose");
  created(draw, add, "domain");
}

/** Gap 24: formats of times. Services and invoices use ISO 8601 with an offset (§2). */
function instants(draw: Draw, add: Add): void {
  const offsets = ["zulu", "millis", "micros", "tbilisi"];
  const open = [...offsets, "epoch", "epoch_ms", "epoch_text", "day", "sql", "instant_object"];
  draw.vary(add, 0.6, kind("service", "values", "created_at"), offsets);
  draw.vary(add, 0.6, kind("invoice", "values", "paid_at"), offsets);
  draw.vary(add, 0.6, kind("grant", "values", "expires_at"), open);
  for (const of of OPEN) {
    const how = draw.weighted({ usual: 5, written: 3, named: 2 });
    if (how === "written") add(kind(of, "values", "created_at"), draw.oneOf(open));
    if (how === "named")
      add(kind(of, "fields", "created_at"), draw.oneOf(["created", "createdAt", "created_on", null]));
  }
}

/** Gap 5: responses to a repeated order. */
function repetitions(draw: Draw, add: Add): void {
  if (draw.once(0.3)) add(profile("replay"), "ok");
  if (draw.once(0.5)) add(profile("refused_key"), "kept");
}

/** Gap 26: lifetime of keys, and lag of lists. */
function memory(draw: Draw, add: Add): void {
  draw.vary(add, 0.7, ["idempotencyRetentionSeconds"], [5, 30, 60, 120, 600, 3600]);
  draw.vary(add, 0.3, list("lagSeconds"), [2, 4, 8, 15, 30]);
}
