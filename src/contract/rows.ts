/** How a server fills the gaps of the specification; here those of lists and errors. */

import { htmlPage } from "../core/api/classify.ts";
import { type ContractRow, isObject } from "../core/model/index.ts";
import {
  type Detector,
  type Detectors,
  excerpt,
  fieldName,
  type ReportedSwitch,
  type Seen,
  SWITCHES,
  type Switch,
  type SwitchName,
  type ValueOf,
} from "./evidence.ts";
import { recordRows } from "./record-rows.ts";
import { isSuccess, type ListSight, listings, type Sight, type Survey, sights, type Written } from "./survey.ts";

/** One row for each switch, in the order of the table. */
export function contractRows(survey: Survey, written: Written | undefined): readonly ContractRow[] {
  return (Object.keys(SWITCHES) as SwitchName[]).map((name) => rowOf(name, survey, written));
}

function rowOf(name: SwitchName, survey: Survey, written: Written | undefined): ContractRow {
  const { values, reported }: Switch = SWITCHES[name];
  const row = { switch: name, default: values[0] };
  if (typeof reported !== "string") return { ...row, finding: "untold", evidence: reported.never };
  if (reported === "write" && written === undefined) {
    return { ...row, finding: "untold", evidence: "No answer to a GET shows it; --write does." };
  }
  const detect: Detector<SwitchName> = DETECTORS[name as ReportedSwitch];
  const seen = detect(survey, written);
  if ("value" in seen) return { ...row, finding: "seen", value: seen.value, evidence: seen.evidence };
  if ("other" in seen) return { ...row, finding: "other", evidence: seen.other };
  return { ...row, finding: "nothing", evidence: seen.nothing };
}

/** The profile of a sandbox like the server: `envelope=data_meta,status=upper_snake`. Empty: the default. */
export function profileOf(rows: readonly ContractRow[]): string {
  return rows
    .filter((row) => row.finding === "seen" && row.value !== row.default)
    .map((row) => `${row.switch}=${row.value}`)
    .join(",");
}

const isEmpty = (json: unknown) => isObject(json) && Object.keys(json).length === 0;

/** A list, or a replacement for an empty one. */
const isItems = (value: unknown) => Array.isArray(value) || value === null || isEmpty(value);

/** The envelope of one answer; undefined when the sandbox has none like it. */
export function envelopeOf(json: unknown): ValueOf<"envelope"> | undefined {
  if (Array.isArray(json)) return "array";
  if (!isObject(json)) return undefined;
  if (!isItems(json.data)) {
    if (isItems(json.items) || isItems(json.results)) {
      return isObject(json.pagination) ? "items_pagination" : undefined;
    }
    const lists = Object.values(json).filter(isItems);
    return lists.length === 1 && typeof json.has_more === "boolean" ? "named_has_more" : undefined;
  }
  if ("next_page_url" in json) return "flat";
  if (isObject(json.meta) && isObject(json.meta.pagination)) return "meta_pagination";
  if (isObject(json.meta)) return isObject(json.links) ? "laravel" : "data_meta";
  return Object.keys(json).length === 1 ? "data_only" : undefined;
}

const successes = (survey: Survey) => listings(survey).filter((sight) => isSuccess(sight));

function envelope(survey: Survey): Seen<"envelope"> {
  const all = successes(survey);
  // An empty answer shows no envelope.
  const wrapped = all.filter(({ answer }) => answer?.json !== null && !isEmpty(answer?.json));
  const seen = wrapped.length > 0 ? wrapped : all;
  const [first] = seen;
  if (first === undefined) return { nothing: "No list could be read." };
  const kinds = new Map(seen.map((sight) => [envelopeOf(sight.answer?.json), sight] as const));
  const evidence = `${first.title}: ${excerpt(withoutItems(first))}`;
  const [value] = kinds.keys();
  if (kinds.size > 1) {
    const ways = [...kinds.values()].map(({ title, answer }) => `${title}: ${form(answer?.json)}`).join("; ");
    return { other: `The lists have several envelopes. ${ways}.` };
  }
  return value === undefined ? { other: evidence } : { value, evidence };
}

/** The names in an envelope. */
export function form(json: unknown): string {
  if (Array.isArray(json)) return "an array";
  return isObject(json) ? `{${Object.keys(json).slice(0, 8).map(fieldName).join(", ")}}` : "no list";
}

function withoutItems({ answer }: ListSight): unknown {
  const json = answer?.json;
  if (Array.isArray(json)) return [];
  if (!isObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, Array.isArray(value) ? [] : value]));
}

type Direction = "newest" | "oldest" | "scattered";

/** How whole numbers follow each other; undefined for fewer than two. */
export function direction(ids: readonly string[]): Direction | undefined {
  if (ids.length < 2 || !ids.every((id) => /^\d{1,15}$/.test(id))) return undefined;
  const steps = ids.slice(1).map((id, at) => Number(id) - Number(ids[at]));
  if (steps.every((step) => step < 0)) return "newest";
  return steps.every((step) => step > 0) ? "oldest" : "scattered";
}

/** Fewer ids have an order by chance. */
const CONCLUSIVE = 3;

/**
 * The longest list decides; plans only where no other is long enough, as a catalogue may be sorted by hand. Lists in
 * different orders count as scattered.
 */
function order(survey: Survey): Seen<"order"> {
  const ordered = successes(survey)
    .map((sight) => ({ sight, way: direction(sight.ids) }))
    .filter((one): one is { sight: ListSight; way: Direction } => one.way !== undefined)
    .toSorted((a, b) => b.sight.ids.length - a.sight.ids.length);
  const long = ordered.filter(({ sight }) => sight.ids.length >= CONCLUSIVE);
  const records = long.filter(({ sight }) => sight.endpoint !== "listPlans");
  const relevant = records.length > 0 ? records : long.length > 0 ? long : ordered;
  const found = relevant.find(({ way }) => way === "scattered") ?? relevant[0];
  if (found === undefined) return { nothing: "No list holds two objects with numbers for ids." };
  const { sight, way } = found;
  if (way === "scattered") return { value: way, evidence: `${sight.title}: the ids follow no order.` };
  const against = relevant.find((one) => one.way !== way);
  if (against === undefined) return { value: way, evidence: `${sight.title}: ids with the ${way} first.` };
  const ways = `${sight.title}: ${way} first; ${against.sight.title}: ${against.way} first`;
  return { value: "scattered", evidence: `The lists follow no common order. ${ways}.` };
}

/** A list without a page number is the first page: a server that counts from 0 has another one under the number 1. */
function pages({ paging }: Survey): Seen<"pages"> {
  if (paging === undefined || paging.single.ids.length === 0) return { nothing: "There is nothing to list." };
  const { single, first } = paging;
  const evidence = `${single.title}: the same page as without a number.`;
  return { value: first === 0 ? "from_zero" : "from_one", evidence };
}

function past_end({ paging }: Survey): Seen<"past_end"> {
  if (paging?.beyond.answer === undefined) return { nothing: "No page after the last one could be requested." };
  const { title, answer, items, next } = paging.beyond;
  const evidence = `${title}: ${answer.status}, ${items.length} objects.`;
  if (answer.status === 404) return { value: "not_found", evidence };
  if (next === undefined) return { other: evidence };
  return { value: items.length === 0 ? "empty" : "repeats", evidence };
}

function empty_list(survey: Survey): Seen<"empty_list"> {
  const seen = [...listings(survey), ...(survey.paging === undefined ? [] : [survey.paging.beyond])].filter(isSuccess);
  const found = seen.find(({ items, next }) => next !== undefined && items.length === 0);
  if (found === undefined) return { nothing: "No list is empty." };
  const json = found.answer?.json;
  const evidence = `${found.title}: ${excerpt(json)}`;
  const bare = seen.some(({ answer }) => Array.isArray(answer?.json));
  if (isEmpty(json)) return { value: bare ? "map" : "nothing", evidence };
  const held = isObject(json) ? Object.values(json).filter(isItems) : [json];
  const value = held.some((one) => Array.isArray(one)) ? "array" : held.includes(null) ? "null" : "map";
  return { value, evidence };
}

function items(survey: Survey): Seen<"items"> {
  const found = successes(survey).find((sight) => sight.records.length > 0);
  if (found === undefined) return { nothing: "There is nothing to list." };
  const [item] = found.items;
  const evidence = `${found.title}: ${excerpt(item)}`;
  if (item === found.records[0]) return { value: "bare", evidence };
  return isObject(item) && isObject(item.data) ? { value: "wrapped", evidence } : { other: evidence };
}

function bodyForm({ answer }: Sight): "json" | "html" | "empty" | "text" | undefined {
  if (answer === undefined) return undefined;
  const text = answer.text.trim();
  if (text === "") return "empty";
  if (htmlPage(text, answer.headers["content-type"]) !== undefined) return "html";
  return answer.json === undefined ? "text" : "json";
}

/** The bodies of 403 and 422 are specified (§7); those of other errors are not. */
function error_bodies({ missing, strangers }: Survey): Seen<"error_bodies"> {
  const refused = [missing, strangers.none, strangers.unknown].filter(
    (sight) => sight.answer !== undefined && sight.answer.status >= 400 && ![403, 422].includes(sight.answer.status),
  );
  const [first] = refused;
  if (first === undefined) return { nothing: "No request was answered with an error whose body is not specified." };
  const forms = new Set(refused.map(bodyForm));
  const [value] = forms;
  const shown = `${first.title} (${first.answer?.status}): ${value === "json" ? excerpt(first.answer?.json) : value}.`;
  if (forms.size > 1) return { other: `The bodies of errors have several forms: ${[...forms].join(", ")}.` };
  return value === undefined || value === "text" ? { other: shown } : { value, evidence: shown };
}

function rate_headers(survey: Survey): Seen<"rate_headers"> {
  const { none, unknown } = survey.strangers;
  const answered = sights(survey).filter((one) => one.answer !== undefined && one !== none && one !== unknown);
  const [first] = answered;
  if (first === undefined) return { nothing: "No request was answered." };
  const names = new Set(answered.flatMap(({ answer }) => Object.keys(answer?.headers ?? {}).filter(isRateHeader)));
  if (names.size === 0)
    return { value: "none", evidence: `None of ${answered.length} answers has a rate-limit header.` };
  const everywhere = ["x-ratelimit-limit", "x-ratelimit-remaining"].every((name) =>
    answered.every(({ answer }) => answer?.headers[name] !== undefined),
  );
  const shown = [...names].slice(0, 6).map(fieldName).join(", ");
  if (everywhere) return { value: "full", evidence: `Every answer has ${shown}.` };
  return { other: `The headers are ${shown}, and not X-RateLimit-Limit and -Remaining on every answer.` };
}

const isRateHeader = (name: string) => /^(?:x-)?rate-?limit/.test(name);

/** Every 422 that was met. */
export function refusals422(survey: Survey, written: Written | undefined): readonly Sight[] {
  const more = [written?.invalid, written?.registered, written?.domains].filter((sight) => sight !== undefined);
  return [...sights(survey), ...more].filter(({ answer }) => answer?.status === 422);
}

function field_errors(survey: Survey, written: Written | undefined): Seen<"field_errors"> {
  const found = refusals422(survey, written).find((sight) => errorsIn(sight).length > 0);
  if (found === undefined) {
    return { nothing: "No request was refused with field errors (422); --write provokes one." };
  }
  const values = errorsIn(found);
  const shown = `${found.title} (422): errors is ${excerpt(isObject(found.answer?.json) ? found.answer.json.errors : null)}.`;
  if (values.every((value) => Array.isArray(value))) return { value: "lists", evidence: shown };
  return values.every((value) => typeof value === "string") ? { value: "texts", evidence: shown } : { other: shown };
}

function errorsIn({ answer }: Sight): readonly unknown[] {
  const json = answer?.json;
  return isObject(json) && isObject(json.errors) ? Object.values(json.errors) : [];
}

const UNREFUSED =
  "No request was refused by the rate limit (429). The check provokes none, as other programs may share the token.";

function too_many({ limited }: Survey): Seen<"too_many"> {
  if (limited === undefined) return { nothing: UNREFUSED };
  const value = bodyForm(limited);
  const shown = `A request was refused (429): ${value === "json" ? excerpt(limited.answer?.json) : value}.`;
  return value === undefined || value === "html" ? { other: shown } : { value, evidence: shown };
}

function retry_after({ limited }: Survey): Seen<"retry_after"> {
  if (limited === undefined) return { nothing: UNREFUSED };
  const header = limited.answer?.headers["retry-after"];
  if (header === undefined) return { value: "none", evidence: "A request was refused (429) without Retry-After." };
  const shown = "A request was refused (429): Retry-After is";
  if (/^\d+$/.test(header)) return { value: "seconds", evidence: `${shown} a number.` };
  if (Number.isNaN(Date.parse(header))) return { other: `${shown} neither a number nor a date.` };
  return { value: "date", evidence: `${shown} a date.` };
}

function bodies(_survey: Survey, written: Written | undefined): Seen<"bodies"> {
  const removed = written?.removed;
  if (removed?.answer === undefined || !isSuccess(removed)) return { nothing: "No webhook was removed." };
  const { status, json } = removed.answer;
  const shown = `${removed.title} (${status}): ${bodyForm(removed) === "json" ? excerpt(json) : bodyForm(removed)}.`;
  if (bodyForm(removed) === "empty") return { value: "empty204", evidence: shown };
  return isObject(json) ? { value: "full", evidence: shown } : { other: shown };
}

const DETECTORS: Detectors = {
  envelope,
  pages,
  past_end,
  empty_list,
  items,
  order,
  error_bodies,
  too_many,
  rate_headers,
  retry_after,
  field_errors,
  bodies,
  ...recordRows,
};
