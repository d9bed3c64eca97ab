/** Rows about refusals and the rate limit. */
import { htmlPage } from "../../core/api/server-words.ts";
import { isObject } from "../../core/model/index.ts";
import { excerpt, fieldName } from "../excerpt.ts";
import { isSuccess, type Sight, type Survey, sights, type Written } from "../sight.ts";
import type { Looks, Seen } from "./seen.ts";

/** What the body of an answer is. */
function bodyForm({ answer }: Sight): "json" | "html" | "empty" | "text" | undefined {
  if (answer === undefined) return undefined;
  const text = answer.text.trim();
  if (text === "") return "empty";
  if (htmlPage(text, answer.headers["content-type"]) !== undefined) return "html";
  return answer.json === undefined ? "text" : "json";
}

/** 403 and 422 have bodies that are specified (§7); the refusals of strangers and of what is unknown have not. */
function error_bodies({ missing, strangers }: Survey): Seen<"error_bodies"> {
  const refused = [missing, strangers.none, strangers.unknown].filter(
    (sight) => sight.answer !== undefined && sight.answer.status >= 400 && ![403, 422].includes(sight.answer.status),
  );
  const [first] = refused;
  if (first === undefined) return { nothing: "No request was answered with an error whose body is not specified." };
  const forms = new Set(refused.map(bodyForm));
  const [value] = forms;
  const shown = `${first.title} (${first.answer?.status}): ${value === "json" ? excerpt(first.answer?.json) : value}.`;
  if (forms.size > 1) return { other: `The bodies of errors are of several forms: ${[...forms].join(", ")}.` };
  return value === undefined || value === "text" ? { other: shown } : { value, evidence: shown };
}

function rate_headers(survey: Survey): Seen<"rate_headers"> {
  const { none, unknown } = survey.strangers;
  const answered = sights(survey).filter((one) => one.answer !== undefined && one !== none && one !== unknown);
  const [first] = answered;
  if (first === undefined) return { nothing: "No answer came." };
  const names = new Set(answered.flatMap(({ answer }) => Object.keys(answer?.headers ?? {}).filter(isRateHeader)));
  if (names.size === 0) return { value: "none", evidence: `No answer of ${answered.length} had a header for it.` };
  const everywhere = ["x-ratelimit-limit", "x-ratelimit-remaining"].every((name) =>
    answered.every(({ answer }) => answer?.headers[name] !== undefined),
  );
  const shown = [...names].slice(0, 6).map(fieldName).join(", ");
  if (everywhere) return { value: "full", evidence: `Every answer has ${shown}.` };
  return { other: `Headers for it are ${shown}, and not X-RateLimit-Limit and -Remaining on every answer.` };
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
    return { nothing: "No refusal of values (422) with errors of fields was met; --write asks for one." };
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
  "No request was refused by the rate limit (429). None is provoked: other programs may share the token's minute.";

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
  if (/^\d+$/.test(header))
    return { value: "seconds", evidence: "A request was refused (429): Retry-After is a number." };
  return Number.isNaN(Date.parse(header))
    ? { other: "A request was refused (429): Retry-After is neither a number nor a date." }
    : { value: "date", evidence: "A request was refused (429): Retry-After is a date." };
}

function bodies(_survey: Survey, written: Written | undefined): Seen<"bodies"> {
  const removed = written?.removed;
  if (removed?.answer === undefined || !isSuccess(removed)) return { nothing: "No webhook was removed." };
  const { status, json } = removed.answer;
  const shown = `${removed.title} (${status}): ${bodyForm(removed) === "json" ? excerpt(json) : bodyForm(removed)}.`;
  if (bodyForm(removed) === "empty") return { value: "empty204", evidence: shown };
  return isObject(json) ? { value: "full", evidence: shown } : { other: shown };
}

export const errorRows: Looks<
  "error_bodies" | "too_many" | "rate_headers" | "retry_after" | "field_errors" | "bodies"
> = {
  error_bodies,
  too_many,
  rate_headers,
  retry_after,
  field_errors,
  bodies,
};
