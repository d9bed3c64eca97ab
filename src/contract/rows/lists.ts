/** Rows about lists: their envelope, their order. */
import { isObject } from "../../core/model/index.ts";
import { excerpt, fieldName } from "../excerpt.ts";
import { isSuccess, type ListSight, listings, type Survey } from "../sight.ts";
import type { ValueOf } from "../switches.ts";
import type { Looks, Seen } from "./seen.ts";

const isEmpty = (json: unknown) => isObject(json) && Object.keys(json).length === 0;

/** A list, or what may stand in the place of an empty one. */
const isItems = (value: unknown) => Array.isArray(value) || value === null || isEmpty(value);

/** The envelope of one answer; undefined when it is like none that the sandbox has. */
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
  return Array.isArray(json)
    ? "an array"
    : isObject(json)
      ? `{${Object.keys(json).slice(0, 8).map(fieldName).join(", ")}}`
      : "no list";
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

/** Fewer follow some order whatever the server does. */
const TELLING = 3;

/**
 * The longest list decides, and plans only where nothing else is long enough: a catalogue may be sorted by hand. Lists
 * that follow different orders follow none that could be relied upon.
 */
function order(survey: Survey): Seen<"order"> {
  const told = successes(survey)
    .map((sight) => ({ sight, way: direction(sight.ids) }))
    .filter((one): one is { sight: ListSight; way: Direction } => one.way !== undefined)
    .toSorted((a, b) => b.sight.ids.length - a.sight.ids.length);
  const long = told.filter(({ sight }) => sight.ids.length >= TELLING);
  const records = long.filter(({ sight }) => sight.endpoint !== "listPlans");
  const telling = records.length > 0 ? records : long.length > 0 ? long : told;
  const found = telling.find(({ way }) => way === "scattered") ?? telling[0];
  if (found === undefined) return { nothing: "No list holds two objects with numbers for ids." };
  const { sight, way } = found;
  if (way === "scattered") return { value: way, evidence: `${sight.title}: the ids follow no order.` };
  const against = telling.find((one) => one.way !== way);
  if (against === undefined) return { value: way, evidence: `${sight.title}: ids with the ${way} first.` };
  const ways = `${sight.title}: ${way} first; ${against.sight.title}: ${against.way} first`;
  return { value: "scattered", evidence: `The lists follow no common order. ${ways}.` };
}

/** Without a number, the first page comes: a server that counts from 0 has another one under the number 1. */
function pages({ paging }: Survey): Seen<"pages"> {
  if (paging === undefined || paging.single.ids.length === 0) return { nothing: "There is nothing to list." };
  const { single, first } = paging;
  const evidence = `${single.title}: it holds what comes first without a number.`;
  return { value: first === 0 ? "from_zero" : "from_one", evidence };
}

function past_end({ paging }: Survey): Seen<"past_end"> {
  if (paging?.beyond.answer === undefined) return { nothing: "No page after the last one could be asked for." };
  const { title, answer, items, next } = paging.beyond;
  const evidence = `${title}: ${answer.status}, ${items.length} objects.`;
  if (answer.status === 404) return { value: "not_found", evidence };
  if (next === undefined) return { other: evidence };
  if (items.length === 0) return { value: "empty", evidence };
  return { value: "repeats", evidence };
}

function empty_list(survey: Survey): Seen<"empty_list"> {
  const seen = [...successes(survey), ...(survey.paging === undefined ? [] : [survey.paging.beyond])].filter(isSuccess);
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

export const listRows: Looks<"envelope" | "pages" | "past_end" | "empty_list" | "items" | "order"> = {
  envelope,
  pages,
  past_end,
  empty_list,
  items,
  order,
};
