/**
 * Checks of the server's answers against the specification: lists (§4 Pagination, §8 Page size), refusals (§5, §7), and
 * whether the client can read the answers.
 */

import { endpoints } from "../core/api/endpoints.ts";
import { ITEM_NAMES } from "../core/api/envelope.ts";
import { NO_PAGE } from "../core/api/list-reading.ts";
import { rateHints } from "../core/api/rate-hints.ts";
import { type ContractCheck, isObject } from "../core/model/index.ts";
import { type CheckResult, check, differs, excerpt, pass, reported, stops, unseen } from "./evidence.ts";
import { recordChecks, type Vocabulary } from "./record-checks.ts";
import { form, refusals422 } from "./rows.ts";
import {
  isSuccess,
  type ListSight,
  listings,
  type PagingSight,
  type Sight,
  type Survey,
  sights,
  type Written,
} from "./survey.ts";

export function contractChecks(
  survey: Survey,
  written: Written | undefined,
  vocabulary: Vocabulary,
): readonly ContractCheck[] {
  return [
    ...readableChecks(survey),
    ...listChecks(survey),
    ...recordChecks(survey, vocabulary),
    ...refusalChecks(survey, written),
  ];
}

const CLAUSE = "§4 Pagination";

export function listChecks(survey: Survey): readonly ContractCheck[] {
  const { lists, paging } = survey;
  const size = (name: "plans" | "services" | "invoices", expected: number) => {
    const says = `A page of ${name} holds ${expected} by default`;
    return check(`lists.default.${name}`, CLAUSE, says, defaultSize(lists[name], expected));
  };
  /** A check of page sizes. */
  const sizes = (id: string, clause: string, says: string, judge: (sight: PagingSight) => CheckResult) =>
    check(`lists.${id}`, clause, says, paging === undefined ? unseen(NOTHING) : judge(paging));
  return [
    check("lists.envelope", CLAUSE, "Every list has the same envelope", envelope(survey)),
    size("plans", 50),
    size("services", 25),
    size("invoices", 25),
    sizes("per_page", CLAUSE, "per_page sets the size of a page", perPage),
    sizes("page", CLAUSE, "page=2 holds other objects than page=1", second),
    sizes("maximum", "§8 Page size", "No page holds more than 100", maximum),
    sizes("beyond", CLAUSE, "A page beyond the last one is empty", beyond),
  ];
}

function envelope(survey: Survey): CheckResult {
  const seen = listings(survey).filter((sight) => isSuccess(sight) && sight.next !== undefined);
  const forms = new Map(seen.map((sight) => [form(sight.answer?.json).replace(named(sight), "*"), sight] as const));
  if (seen.length === 0) return unseen("No list could be read.");
  if (forms.size === 1) return pass(`${seen.length} answers: ${[...forms.keys()][0]}`);
  return differs([...forms].map(([text, { title }]) => `${title}: ${text}`).join("; "));
}

/** The name of the items where an envelope names them after their kind, and so differently in each list. */
function named({ answer, items }: ListSight): string {
  const fields = isObject(answer?.json) ? Object.entries(answer.json) : [];
  const name = fields.find(([, value]) => value === items)?.[0] ?? "\0";
  return name === "data" || ITEM_NAMES.includes(name) ? "\0" : name;
}

const NOTHING = "There is nothing to list.";
const COUNT_ONLY = "The server does not report the size of a page, and there are too few objects to see it.";

function defaultSize(sight: ListSight, expected: number): CheckResult {
  if (sight.next === undefined) return unseen(why(sight));
  const count = sight.items.length;
  if (sight.size === expected || (count === expected && sight.next === "more")) return pass(`${expected} a page.`);
  if (sight.size !== undefined) return differs(`The server says ${sight.size} a page.`);
  if (count > expected) return differs(`The page holds ${count}.`);
  return sight.next === "more" ? differs(`The page holds ${count}, and there are more.`) : unseen(COUNT_ONLY);
}

function perPage({ single }: PagingSight): CheckResult {
  if (single.next === undefined) return unseen(why(single));
  if (single.items.length === 1) return pass("per_page=1 gives 1.");
  return differs(`per_page=1 gives ${single.items.length} (${single.title}).`);
}

/** The client asks for 100 a page and counts pages up: a server that ignores `page` repeats the first one. */
function second({ single, second: next, largest }: PagingSight): CheckResult {
  if (single.ids.length === 0) return unseen(NOTHING);
  if (largest.ids.length < 2) return unseen("There is only one object to list.");
  if (next.next === undefined) return unseen(why(next));
  const [first] = single.ids;
  if (!next.ids.includes(first ?? "")) return pass();
  if (single.ids.length > 1) return differs(`The server ignores both page and per_page (${next.title}).`);
  return stops(
    `Page 2 repeats page 1 (${next.title}). hostform does not act on an incomplete list.`,
    "Report it to the host: hostform cannot read an account with more than 100 objects of a kind.",
  );
}

function maximum({ over }: PagingSight): CheckResult {
  if (over.answer?.status === 422) return pass("per_page=101 is refused (422).");
  if (over.next === undefined) return unseen(why(over));
  if (over.items.length > 100) return differs(`per_page=101 gives ${over.items.length}.`);
  if (over.size === undefined) return unseen(COUNT_ONLY);
  const size = `per_page=101 gives ${over.size} a page.`;
  return over.size <= 100 ? pass(size) : differs(size);
}

/** Where a list does not show its end, the client requests one page more to find it. */
function beyond({ beyond: page, largest }: PagingSight): CheckResult {
  const silent = largest.next === "silent";
  const needed = "hostform requests it when a list does not show its end.";
  if (page.answer === undefined) return unseen(why(page));
  if (page.next === undefined) {
    const { status } = page.answer;
    const what = `It is answered with ${status}.`;
    return silent && !NO_PAGE.includes(status) ? stops(`${what} ${needed}`) : differs(what);
  }
  if (page.items.length > 0) return differs(`It holds ${page.items.length}.`);
  return page.next === "more" ? differs("It is empty, but the server reports further pages.") : pass();
}

function why({ answer, title }: ListSight): string {
  if (answer === undefined) return `${title} was not answered.`;
  if (answer.status === 403) return `The token lacks the permission (403): ${title}.`;
  return `${title} could not be read (${answer.status}).`;
}

export function refusalChecks(survey: Survey, written: Written | undefined): readonly ContractCheck[] {
  const { strangers, missing, domains } = survey;
  return [
    check("auth.none", "§5.1", "A request without a token is refused", stranger(strangers.none)),
    check("auth.unknown", "§5.1", "A request with an unknown token is refused", stranger(strangers.unknown)),
    check("errors.403", "§7", "403 says in message which check failed", forbidden(survey, written)),
    check("errors.404", "§7 Gaps", "A service that does not exist is not found (404)", notFound(missing)),
    check("errors.422", "§7", "422 has message and an object of field errors", invalid(survey, written)),
    check("rate.limit", "§8 Request rate", "60 requests a minute for each token", rate(survey)),
    domainsCheck("GET", [domains.many, domains.single]),
    ...(written === undefined ? [] : writtenChecks(written)),
  ];
}

function writtenChecks(written: Written): readonly ContractCheck[] {
  const { invalid: refused, registered, id, secretName, removed, gone, domains } = written;
  const registration = (): CheckResult => {
    if (registered === undefined) return unseen(written.skipped ?? "No webhook was registered.");
    if (registered.answer?.status === 403) return unseen("The token may not register webhooks (403).");
    if (registered.answer?.status === 422) {
      return unseen("The server refuses an address that does not exist (422). Give one of yours with --webhook-url.");
    }
    if (registered.problem !== undefined) return { verdict: "stops", ...reported(registered.problem) };
    if (secretName === undefined) return stops("The answer holds no signing secret, and it is shown only this once.");
    return id === undefined
      ? differs("The answer holds no id; hostform finds it in the list.")
      : pass(`The secret is named ${secretName}.`);
  };
  const removal = (): CheckResult => {
    if (removed === undefined) return unseen("There was no webhook to remove.");
    if (gone === false) return stops("The list still holds it afterwards.");
    return removed.problem === undefined ? pass() : { verdict: "stops", ...reported(removed.problem) };
  };
  const strict = (): CheckResult => {
    if (refused?.answer === undefined || refused.answer.status === 403)
      return unseen("The request was not answered, or the token lacks the permission.");
    return isSuccess(refused)
      ? differs("It was accepted, and removed again.")
      : pass(`It is refused (${refused.answer.status}).`);
  };
  return [
    check("webhooks.invalid", "§4 POST /webhooks", "A webhook needs a URL and an event", strict()),
    check("webhooks.secret", "§4 POST /webhooks", "A registration answers with the signing secret", registration()),
    check("webhooks.removed", "§4 Endpoints", "DELETE /webhooks/{id} removes the subscription", removal()),
    domainsCheck("POST", [domains]),
  ];
}

function stranger(sight: Sight): CheckResult {
  const { answer } = sight;
  if (answer === undefined) return unanswered(sight);
  const what = `It is answered with ${answer.status}.`;
  if (isSuccess(sight)) return differs(`${what} Report it to the host: anyone can read the account.`);
  return answer.status === 401 || answer.status === 403 ? pass(what) : differs(what);
}

function unanswered({ problem }: Sight): CheckResult {
  return unseen(problem === undefined ? "It was not answered." : reported(problem).detail);
}

function forbidden(survey: Survey, written: Written | undefined): CheckResult {
  const more = [written?.invalid, written?.registered].filter((sight) => sight !== undefined);
  const own = sights(survey).filter((one) => !Object.values(survey.strangers).includes(one));
  const met = [...own, ...more].filter(({ answer }) => answer?.status === 403);
  const [first] = met;
  if (first === undefined) return unseen("No request was refused with 403.");
  const silent = met.find(({ answer }) => !isObject(answer?.json) || typeof answer.json.message !== "string");
  return silent === undefined ? pass(`${first.title}.`) : differs(`${silent.title}: ${excerpt(silent.answer?.json)}.`);
}

/** hostform takes only 404 and 410 for gone; with any other answer, an object still exists. */
function notFound(missing: Sight): CheckResult {
  const { answer, problem } = missing;
  if (answer === undefined) return unanswered(missing);
  if (answer.status !== 404 && answer.status !== 410) {
    const consequence = "hostform cannot see that a service is gone, and stops there.";
    return differs(`It is answered with ${answer.status}. ${consequence}`);
  }
  if (problem?.diagnostics[0]?.code !== "api.malformed") return pass(`It is answered with ${answer.status}.`);
  return differs(
    `It is answered with a page (${answer.status}), possibly of a proxy. hostform confirms it with the list.`,
    "Ask the host for an answer in JSON, or without a body.",
  );
}

function invalid(survey: Survey, written: Written | undefined): CheckResult {
  const met = refusals422(survey, written);
  const [first] = met;
  if (first === undefined) return unseen("No values were refused (422).");
  const odd = met.find(
    ({ answer }) => !isObject(answer?.json) || typeof answer.json.message !== "string" || !isObject(answer.json.errors),
  );
  return odd === undefined ? pass(`${first.title}.`) : differs(`${odd.title}: ${excerpt(odd.answer?.json)}.`);
}

function rate(survey: Survey): CheckResult {
  const limits = sights(survey).map(({ answer }) => rateHints(answer?.headers ?? {}, 0).limit);
  const limit = limits.find((one) => one !== undefined);
  if (limit === undefined) return unseen("No answer reports the limit. hostform keeps to 60.");
  if (limit === 60) return pass();
  const keeps = limit < 60 ? "hostform keeps to that." : "hostform keeps to 60.";
  return differs(`The server reports ${limit}. ${keeps}`);
}

function domainsCheck(method: "GET" | "POST", asked: readonly Sight[]): ContractCheck {
  const says = `${method} /domains/check reports which domains are available`;
  return check(`domains.${method.toLowerCase()}`, "§4 Endpoints", says, availability(asked));
}

function availability(asked: readonly Sight[]): CheckResult {
  const found = asked.find((sight) => isSuccess(sight));
  const [first] = asked;
  if (found !== undefined) {
    return /"(?:is_?available|available|status)"/i.test(found.answer?.text ?? "")
      ? pass(`${found.title}.`)
      : differs(`hostform does not see which are available: ${excerpt(found.answer?.json)}.`);
  }
  if (first?.answer?.status === 403) return unseen("The token lacks the permission (403).");
  const statuses = asked.map(({ title, answer }) => `${title}: ${answer?.status ?? "no answer"}`).join("; ");
  return differs(`${statuses}. hostform shows availability as unknown.`);
}

/** One check for each endpoint that is read for its content. */
export function readableChecks(survey: Survey): readonly ContractCheck[] {
  const { missing, domains, strangers, paging } = survey;
  // Requests that ask for a refusal, or whose answer is advisory, have other checks.
  const apart = new Set<Sight | undefined>([missing, ...Object.values(domains), ...Object.values(strangers)]);
  for (const page of [paging?.over, paging?.beyond]) apart.add(page);
  const read = sights(survey).filter((sight) => !apart.has(sight));
  const names = [...new Set(read.map(({ endpoint }) => endpoint))];
  return names.map((name) => {
    const { method, path } = endpoints[name];
    const outcome = readable(read.filter(({ endpoint }) => endpoint === name));
    return check(`read.${name}`, "§4 Endpoints", `hostform can read ${method} ${path}`, outcome);
  });
}

function readable(seen: readonly Sight[]): CheckResult {
  const failed = seen.find(({ problem }) => problem !== undefined);
  if (failed?.problem === undefined) return pass();
  // A token may lack an ability (§5), and an account the Manage track (§4 accounts).
  if (failed.answer?.status === 403) return unseen(reported(failed.problem).detail);
  return { verdict: "stops", ...reported(failed.problem) };
}
