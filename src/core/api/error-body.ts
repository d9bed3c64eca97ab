import { isObject } from "../model/index.ts";
import { endpoints } from "./endpoints.ts";
import { ITEM_NAMES } from "./envelope.ts";
import type { ApiRequest, Reply } from "./exchange.ts";
import type { FailedAttempt } from "./failure.ts";
import {
  accountForm,
  type Form,
  grantForm,
  hasId,
  invoiceForm,
  migrationRequestForm,
  planForm,
  readRecord,
  serviceForm,
  webhookForm,
} from "./forms.ts";
import { formOf, malformed } from "./malformed.ts";
import type { Redact } from "./redact.ts";
import { fieldErrorsOf, serverMessageOf } from "./server-words.ts";

type Object = { readonly [key: string]: unknown };

/** The records that an answer may hold without an envelope. Plans only come as a list. */
const SINGLE: readonly Form<Object>[] = [
  serviceForm,
  invoiceForm,
  grantForm,
  webhookForm,
  accountForm,
  migrationRequestForm,
].map((form) => form as unknown as Form<Object>);
const FORMS = [...SINGLE, planForm as unknown as Form<Object>];
/** Where an envelope holds its record or its list. */
const CONTENT_NAMES = [...new Set(["data", ...ITEM_NAMES, ...FORMS.flatMap(({ one, many }) => [...one, ...many])])];

/** Words and texts by which a body says that the request failed, whatever its HTTP status. */
const FAILED = /^(error|errors|fail|failed|failure)$/i;

/**
 * The failure that a 2xx answer tells in its body (§7 knows errors by their HTTP status only; many servers send some as
 * 200); undefined when it tells none. Only the top level is looked at, and only where there is no record or list: a
 * record's own `status` or `error` is its own. `plain` is for answers of which no record is needed. What a request that
 * changes something has done is then not known: `reached: "maybe"`.
 */
export function errorBody(
  request: ApiRequest,
  reply: Reply,
  json: unknown,
  options: { readonly redact: Redact; readonly plain: boolean; readonly transient: boolean },
): FailedAttempt | undefined {
  const { endpoint, secrets } = request;
  if (!isObject(json)) return undefined;
  const denied = [json.success, json.ok].some((value) => value === false || value === 0 || value === "false");
  if (!denied && (!hintsAtError(json) || isRecord(json))) return undefined;
  // A list beside "success: false" may be half of one. The record of a creation is worth more than the doubt.
  const contentCounts = !options.plain && !(denied && endpoints[endpoint].repeat === "safe");
  if (contentCounts && CONTENT_NAMES.some((name) => holdsRecord(json[name], 0))) return undefined;

  const redact = (text: string) => options.redact(text, secrets);
  const message = serverMessageOf(reply).message ?? Object.values(fieldErrorsOf(json, redact)).flat()[0];
  const words = message === undefined ? undefined : redact(message);
  return malformed(endpoint, {
    expected: `what status ${reply.status} promises`,
    came: words === undefined ? `an error, ${formOf(json)}` : `an error in the server's words: "${words}"`,
    transient: options.transient,
    status: reply.status,
  });
}

function hintsAtError(json: Object): boolean {
  return (
    [json.error, json.errors, json.exception].some(tells) ||
    [json.status, json.code].some((value) => typeof value === "number" && value >= 400 && value <= 599) ||
    (typeof json.status === "string" && FAILED.test(json.status.trim()))
  );
}

/** Whether a value says anything: null, false, 0 and whatever is empty do not. */
function tells(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return typeof value === "string" ? value.trim() !== "" : Boolean(value);
}

/** A record without an envelope. An id alone does not make one: errors have ids too. */
function isRecord(json: Object): boolean {
  return SINGLE.some((form) => {
    const read = readRecord(form, json);
    if ("problem" in read) return false;
    const { id: _id, raw: _raw, status: _status, ...fields } = read.record;
    return Object.values(fields).some(tells);
  });
}

/** Whether there is anything with an id: a record, one in a list, or either of them one level deeper. */
function holdsRecord(value: unknown, depth: number): boolean {
  if (Array.isArray(value)) return value.some((item) => FORMS.some((form) => hasId(form, item)));
  if (!isObject(value)) return false;
  return (
    FORMS.some((form) => hasId(form, value)) ||
    (depth === 0 && CONTENT_NAMES.some((name) => holdsRecord(value[name], depth + 1)))
  );
}
