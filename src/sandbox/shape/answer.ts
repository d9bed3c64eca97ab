/**
 * Converts replies and rejections to bodies of responses, according to the profile and the rendering. The default is the
 * format of the specification.
 *
 * Must not: change a record; use a route or HTTP.
 */
import { STATUS_CODES } from "node:http";
import type { Settings } from "../options.ts";
import { firstPage, type Profile } from "../profile/profile.ts";
import type { Refusal } from "../refusal.ts";
import { hasEnded } from "../store/store.ts";
import { invoiceBody, itemBody, type JsonObject, type Reply, type Sent } from "./items.ts";
import { renderOrdered, renderPage, renderRecord, renderRefusal, renderSingle } from "./rendering.ts";

type Form = Pick<Settings, "profile" | "rendering">;

interface WireAnswer {
  status: number;
  /** Undefined without a body. */
  body: unknown;
}

const NO_CONTENT: WireAnswer = { status: 204, body: undefined };

/** Returns the response to send. `url` is the URL of the request, for links in the list envelope. */
export function shape(reply: Reply, form: Form, url: URL): WireAnswer {
  const { profile, rendering } = form;
  const { answers = {}, lists } = rendering;
  /** Puts a body at a dotted path of the rendering, or wraps it as the profile does. */
  const placed = (place: string | undefined, body: unknown, usual = body): WireAnswer => ({
    status: 200,
    body: place === undefined ? single(usual, profile) : renderSingle(body, place),
  });
  switch (reply.form) {
    case "page": {
      const items = reply.items.map((item) => listed(item, form));
      return { status: 200, body: lists ? renderPage(reply, items, lists, url) : envelope(reply, items, profile, url) };
    }
    case "one":
      return answered(reply, form);
    case "ordered":
      return ordered(reply, form);
    case "sign_on":
      return placed(answers.signOn, reply.url, { url: reply.url });
    case "password":
      return placed(answers.password, reply.password, { [profile.password]: reply.password });
    case "checked":
      return placed(answers.checked, checked(reply.results)[profile.domain_check]);
    case "queued":
      if (answers.queued !== undefined) return { status: answers.queued.status, body: answers.queued.body };
      return queued(reply, form)[profile.queued];
    case "done":
      if (answers.done !== undefined) return { status: answers.done.status, body: answers.done.body };
      return profile.bodies === "empty204" ? NO_CONTENT : { status: 200, body: { message: reply.message } };
  }
}

/** Converts ids of a request body to integers. A profile with ids as strings accepts both. */
export function unshape(body: Record<string, unknown>, profile: Profile): Record<string, unknown> {
  if (profile.ids === "integer") return body;
  const read = { ...body };
  for (const name of ["plan_id", "order_id"]) {
    const value = read[name];
    if (typeof value === "string" && /^\d{1,15}$/.test(value)) read[name] = Number(value);
  }
  return read;
}

function bodyOf(item: Sent, { profile, rendering }: Form): JsonObject {
  return renderRecord(item.kind, itemBody(item, profile), rendering.kinds?.[item.kind]);
}

function listed(item: Sent, form: Form): JsonObject {
  const { wrapped: wrapper, ended } = form.rendering.kinds?.[item.kind] ?? {};
  const body = { ...bodyOf(item, form), ...(hasEnded(item.record) && ended) };
  return wrapper === undefined ? body : { [wrapper]: body };
}

function single(body: unknown, profile: Profile): unknown {
  return profile.unwrapped === "yes" ? body : { data: body };
}

function one(item: Sent, form: Form, body = bodyOf(item, form)): unknown {
  const place = form.rendering.kinds?.[item.kind]?.single;
  if (place !== undefined) return renderSingle(body, place);
  const bare = item.kind === "webhook" && item.withSecret && form.profile.webhook === "bare";
  return bare ? body : single(body, form.profile);
}

/** Returns the response with a record that was read or created. */
function answered({ item, status }: Extract<Reply, { form: "one" }>, form: Form): WireAnswer {
  const rendering = form.rendering.kinds?.[item.kind];
  const created = status === 201 ? rendering?.created : undefined;
  if (created === undefined) return { status, body: one(item, form) };
  const code = created.status ?? status;
  if (code === 204) return NO_CONTENT;
  if (created.body !== undefined) return { status: code, body: created.body };
  const kept = Object.entries(itemBody(item, form.profile)).filter(([name]) => created.only?.includes(name) ?? true);
  return { status: code, body: one(item, form, renderRecord(item.kind, Object.fromEntries(kept), rendering)) };
}

function queued({ message, service }: Extract<Reply, { form: "queued" }>, form: Form) {
  return {
    message: { status: 202, body: { message } },
    service: { status: 200, body: one({ kind: "service", record: service }, form) },
    no_content: NO_CONTENT,
    empty: { status: 202, body: undefined },
  };
}

function checked(results: Extract<Reply, { form: "checked" }>["results"]) {
  return {
    list: results,
    map: Object.fromEntries(results.map(({ domain, available }) => [domain, { available }])),
    is_available: results.map(({ domain, available }) => ({ domain, is_available: available })),
    status: results.map(({ domain, available }) => ({ domain, status: available ? "available" : "taken" })),
  };
}

function ordered({ item, invoice: raised }: Extract<Reply, { form: "ordered" }>, form: Form): WireAnswer {
  const { profile, rendering } = form;
  const order = bodyOf(item, form);
  const invoice = renderRecord("invoice", invoiceBody(raised, profile), rendering.kinds?.invoice);
  const wanted = rendering.answers?.ordered;
  const created = rendering.kinds?.[item.kind]?.created;
  const status = created?.status ?? wanted?.status ?? 201;
  if (status === 204) return NO_CONTENT;
  if (created?.body !== undefined) return { status, body: created.body };
  if (wanted !== undefined) return { status, body: renderOrdered(order, invoice, wanted) };
  const whole = profile.unwrapped === "yes" ? order : { data: order };
  const bodies = {
    nested: single({ ...order, invoice }, profile),
    beside: { ...whole, invoice },
    split: single({ [item.kind]: order, invoice }, profile),
    invoice_wrapped: { ...whole, invoice: { data: invoice } },
  };
  return { status, body: bodies[profile.creation] };
}

/** Items of an empty list. */
const EMPTY = { array: [], null: null, map: {}, nothing: {} } as const;

/**
 * Returns the list envelope: "one common envelope wrapping the items" (§4 Pagination). Its format is not specified.
 * @param bodies Items in their final format.
 * @param url URL of the request, for links.
 */
function envelope(
  { name, page, perPage, total }: Extract<Reply, { form: "page" }>,
  bodies: readonly unknown[],
  profile: Profile,
  url: URL,
): unknown {
  const empty = bodies.length === 0;
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
  const to = from === null ? null : from + bodies.length - 1;
  const meta = { current_page: page, from, last_page: last, path, per_page: perPage, to, total };
  const links = { first: at(first), last: at(last), prev, next };
  const urls = { next_page_url: next, path, per_page: perPage, prev_page_url: prev };
  const envelopes = {
    laravel: { data: items, links, meta },
    data_meta: { data: items, meta },
    items_pagination: { items, pagination: { page, per_page: perPage, total_pages: pages } },
    named_has_more: { [name]: items, has_more: page < last },
    flat: { current_page: page, data: items, from, ...urls, to },
    data_only: { data: items },
    array: items,
    meta_pagination: { data: items, meta: { pagination: { current_page: page, total_pages: pages } } },
  };
  return envelopes[profile.envelope];
}

type Said = Pick<Refusal, "status" | "body" | "headers">;

/**
 * Returns the response of a rejection. §7 specifies the bodies of 403 ("a plain-text message field") and 422 (`{message,
 * errors}`). Other bodies are "not specified beyond status". `body` is undefined without a body.
 */
export function shapeRefusal(
  { status, body, headers }: Said,
  { profile, rendering }: Form,
): { status: number; body: string | undefined; headers: Record<string, string> } {
  const json = renderRefusal(status, fieldErrors(body, profile), rendering.refusals);
  const unspecified = status === 429 ? profile.too_many : profile.error_bodies;
  const forms = {
    json: [JSON.stringify(json), { "Content-Type": "application/json" }],
    html: [page(status), { "Content-Type": "text/html; charset=utf-8" }],
    text: [body.message, { "Content-Type": "text/plain; charset=utf-8" }],
    empty: [undefined, {}],
  } as const;
  const [text, type] = forms[status === 403 || status === 422 ? "json" : unspecified];
  return { status, body: text, headers: { ...headers, ...type } };
}

/** Returns the "object of field errors" (§7). Its values are not specified. */
function fieldErrors(body: Said["body"], profile: Profile): { message: string; errors?: unknown } {
  if (body.errors === undefined || profile.field_errors === "lists") return body;
  const texts = Object.entries(body.errors).map(([field, sentences]) => [field, sentences.join(" ")]);
  return { ...body, errors: Object.fromEntries(texts) };
}

/** Returns an HTML page like those of web servers and proxies. */
function page(status: number): string {
  const title = `${status} ${STATUS_CODES[status] ?? "Error"}`;
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1></body>
</html>
`;
}
