/** The answers to requests that were carried out. */
import { STATUS_CODES } from "node:http";
import { firstPage, type Profile } from "../profile/profile.ts";
import type { Refusal } from "../refusal.ts";
import type { Invoice } from "../store/records.ts";
import { type Availability, type Body, invoiceBody, itemBody, type Reply, type Sent } from "./items.ts";
import { type Rendering, renderOrdered, renderPage, renderRecord, renderRefusal, renderSingle } from "./rendering.ts";

interface WireAnswer {
  status: number;
  /** Undefined: no body at all. */
  body: unknown;
}

const NO_CONTENT: WireAnswer = { status: 204, body: undefined };

/** The answer as it is sent. `url` is the request's own, for the links of the list envelope. */
export function shape(reply: Reply, profile: Profile, url: URL, rendering: Rendering = {}): WireAnswer {
  const { answers = {}, lists } = rendering;
  switch (reply.form) {
    case "page": {
      const items = reply.items.map((item) => listed(item, profile, rendering));
      return { status: 200, body: lists ? renderPage(reply, items, lists, url) : envelope(reply, items, profile, url) };
    }
    case "one":
      return answered(reply, profile, rendering);
    case "ordered":
      return ordered(reply.item, reply.invoice, profile, rendering);
    case "value":
      if (answers.signOn !== undefined) {
        return { status: reply.status, body: renderSingle((reply.value as { url: string }).url, answers.signOn) };
      }
      return { status: reply.status, body: single(reply.value, profile) };
    case "password":
      if (answers.password !== undefined) return { status: 200, body: renderSingle(reply.password, answers.password) };
      return { status: 200, body: single({ [profile.password]: reply.password }, profile) };
    case "checked": {
      const results = checked(reply.results, profile);
      const { checked: place } = answers;
      return { status: 200, body: place === undefined ? single(results, profile) : renderSingle(results, place) };
    }
    case "queued":
      if (answers.queued !== undefined) return { status: answers.queued.status, body: answers.queued.body };
      return queued(reply, profile, rendering);
    case "done":
      if (answers.done !== undefined) return { status: answers.done.status, body: answers.done.body };
      if (profile.bodies === "empty204") return NO_CONTENT;
      return { status: reply.status, body: { message: reply.message } };
  }
}

/** A record, rendered. */
function bodyOf(item: Sent, profile: Profile, { kinds = {} }: Rendering): Body {
  return renderRecord(item.kind, itemBody(item, profile), kinds[item.kind]);
}

function listed(item: Sent, profile: Profile, rendering: Rendering): Body {
  const body = bodyOf(item, profile, rendering);
  const wrapper = rendering.kinds?.[item.kind]?.wrapped;
  return wrapper === undefined ? body : { [wrapper]: body };
}

/** Ids in a request body: a server that sends its ids as strings takes them back as strings. */
export function unshape(body: Record<string, unknown>, profile: Profile): Record<string, unknown> {
  if (profile.ids === "integer") return body;
  const read = { ...body };
  for (const name of ["plan_id", "order_id"]) {
    const value = read[name];
    if (typeof value === "string" && /^\d{1,15}$/.test(value)) read[name] = Number(value);
  }
  return read;
}

function single(body: unknown, profile: Profile): unknown {
  return profile.unwrapped === "yes" ? body : { data: body };
}

function one(item: Sent, profile: Profile, rendering: Rendering, body = bodyOf(item, profile, rendering)): unknown {
  const place = rendering.kinds?.[item.kind]?.single;
  if (place !== undefined) return renderSingle(body, place);
  const bare = item.kind === "webhook" && item.withSecret && profile.webhook === "bare";
  return bare ? body : single(body, profile);
}

/** A record that was asked for, or that has just been created. */
function answered(
  { item, status }: Extract<Reply, { form: "one" }>,
  profile: Profile,
  rendering: Rendering,
): WireAnswer {
  const created = status === 201 ? rendering.kinds?.[item.kind]?.created : undefined;
  if (created === undefined) return { status, body: one(item, profile, rendering) };
  const code = created.status ?? status;
  if (code === 204) return NO_CONTENT;
  if (created.body !== undefined) return { status: code, body: created.body };
  const kept = Object.entries(itemBody(item, profile)).filter(([name]) => created.only?.includes(name) ?? true);
  const body = renderRecord(item.kind, Object.fromEntries(kept), rendering.kinds?.[item.kind]);
  return { status: code, body: one(item, profile, rendering, body) };
}

function queued(
  { message, service }: Extract<Reply, { form: "queued" }>,
  profile: Profile,
  rendering: Rendering,
): WireAnswer {
  switch (profile.queued) {
    case "message":
      return { status: 202, body: { message } };
    case "service":
      return { status: 200, body: one({ kind: "service", record: service }, profile, rendering) };
    case "no_content":
      return NO_CONTENT;
    case "empty":
      return { status: 202, body: undefined };
  }
}

function checked(results: readonly Availability[], profile: Profile): unknown {
  switch (profile.domain_check) {
    case "list":
      return results;
    case "map":
      return Object.fromEntries(results.map(({ domain, available }) => [domain, { available }]));
    case "is_available":
      return results.map(({ domain, available }) => ({ domain, is_available: available }));
    case "status":
      return results.map(({ domain, available }) => ({ domain, status: available ? "available" : "taken" }));
  }
}

function ordered(item: Sent, raised: Invoice, profile: Profile, rendering: Rendering): WireAnswer {
  const order = bodyOf(item, profile, rendering);
  const invoice = renderRecord("invoice", invoiceBody(raised, profile), rendering.kinds?.invoice);
  const { ordered: wanted } = rendering.answers ?? {};
  const created = rendering.kinds?.[item.kind]?.created;
  const status = created?.status ?? wanted?.status ?? 201;
  if (status === 204) return NO_CONTENT;
  if (created?.body !== undefined) return { status, body: created.body };
  return {
    status,
    body: wanted === undefined ? together(item.kind, order, invoice, profile) : renderOrdered(order, invoice, wanted),
  };
}

function together(kind: Sent["kind"], order: Body, invoice: Body, profile: Profile): unknown {
  const wrapped = profile.unwrapped === "no";
  switch (profile.creation) {
    case "nested":
      return single({ ...order, invoice }, profile);
    case "beside":
      return wrapped ? { data: order, invoice } : { ...order, invoice };
    case "split":
      return single({ [kind]: order, invoice }, profile);
    case "invoice_wrapped":
      return wrapped ? { data: order, invoice: { data: invoice } } : { ...order, invoice: { data: invoice } };
  }
}

/** What stands in place of the items of an empty list. */
const EMPTY = { array: [], null: null, map: {}, nothing: {} } as const;

/** `bodies` are the items of the list as they are sent; `url` is the request's own, for the links. */
export function envelope(
  list: Extract<Reply, { form: "page" }>,
  bodies: readonly unknown[],
  profile: Profile,
  url: URL,
): unknown {
  const { page, perPage, total } = list;
  const empty = list.items.length === 0;
  if (empty && profile.empty_list === "nothing") return EMPTY.nothing;
  const wrapped = profile.items === "wrapped" ? bodies.map((data) => ({ data })) : bodies;
  const items = empty ? EMPTY[profile.empty_list] : wrapped;
  const first = firstPage(profile);
  const pages = Math.max(1, Math.ceil(total / perPage));
  const last = first + pages - 1;
  const path = `${url.origin}${url.pathname}`;
  const at = (number: number): string => `${path}?page=${number}&per_page=${perPage}`;
  const next = page < last ? at(page + 1) : null;
  const prev = page > first ? at(page - 1) : null;
  const from = empty ? null : (page - first) * perPage + 1;
  const to = from === null ? null : from + list.items.length - 1;
  const meta = { current_page: page, from, last_page: last, path, per_page: perPage, to, total };
  switch (profile.envelope) {
    case "laravel":
      return { data: items, links: { first: at(first), last: at(last), prev, next }, meta };
    case "data_meta":
      return { data: items, meta };
    case "items_pagination":
      return { items, pagination: { page, per_page: perPage, total_pages: pages } };
    case "named_has_more":
      return { [list.name]: items, has_more: page < last };
    case "flat":
      return {
        current_page: page,
        data: items,
        from,
        next_page_url: next,
        path,
        per_page: perPage,
        prev_page_url: prev,
        to,
      };
    case "data_only":
      return { data: items };
    case "array":
      return items;
    case "meta_pagination":
      return { data: items, meta: { pagination: { current_page: page, total_pages: pages } } };
  }
}

/** An error as it is sent. `body` undefined: none at all. */
interface RefusedAnswer {
  status: number;
  body: string | undefined;
  headers: Record<string, string>;
}

type Said = Pick<Refusal, "status" | "body" | "headers">;

/** The answer of a refusal. */
export function shapeRefusal(
  { status, body, headers }: Said,
  profile: Profile,
  { refusals }: Rendering = {},
): RefusedAnswer {
  const answer = (text: string | undefined, type: string): RefusedAnswer => ({
    status,
    body: text,
    headers: text === undefined ? { ...headers } : { ...headers, "Content-Type": type },
  });
  switch (formOf(status, profile)) {
    case "json":
      return answer(JSON.stringify(renderRefusal(status, fieldErrors(body, profile), refusals)), "application/json");
    case "html":
      return answer(page(status), "text/html; charset=utf-8");
    case "text":
      return answer(body.message, "text/plain; charset=utf-8");
    case "empty":
      return answer(undefined, "");
  }
}

/** 403 has "a plain-text message field", 422 `{message, errors}`. */
function formOf(status: number, profile: Profile): "json" | "html" | "text" | "empty" {
  if (status === 403 || status === 422) return "json";
  return status === 429 ? profile.too_many : profile.error_bodies;
}

/** "Object of field errors" (§7): what stands under each field is not said. */
function fieldErrors(body: Said["body"], profile: Profile): { message: string; errors?: unknown } {
  if (body.errors === undefined || profile.field_errors === "lists") return body;
  const texts = Object.entries(body.errors).map(([field, sentences]) => [field, sentences.join(" ")]);
  return { ...body, errors: Object.fromEntries(texts) };
}

/** A page as a web server or a proxy in front of the API makes it. */
function page(status: number): string {
  const title = `${status} ${STATUS_CODES[status] ?? "Error"}`;
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1></body>
</html>
`;
}
