/** §4 Pagination and §8 Page size, held against the lists that were seen. */
import { ITEM_NAMES } from "../../core/api/envelope.ts";
import { NO_PAGE } from "../../core/api/listing.ts";
import type { ContractCheck } from "../../core/model/index.ts";
import { form } from "../rows/lists.ts";
import { isSuccess, type ListSight, listings, type PagingSight, type Survey } from "../sight.ts";
import { check, differs, type Outcome, pass, stops, unseen } from "./verdict.ts";

const CLAUSE = "§4 Pagination";

export function listChecks(survey: Survey): readonly ContractCheck[] {
  const { lists, paging } = survey;
  const size = (name: "plans" | "services" | "invoices", expected: number) =>
    check(
      `lists.default.${name}`,
      CLAUSE,
      `A page of ${name} holds ${expected} by default`,
      defaultSize(lists[name], expected),
    );
  return [
    check("lists.envelope", CLAUSE, "Every list has the same envelope", envelope(survey)),
    size("plans", 50),
    size("services", 25),
    size("invoices", 25),
    check("lists.per_page", CLAUSE, "per_page sets the size of a page", perPage(paging)),
    check("lists.page", CLAUSE, "page=2 holds other objects than page=1", second(paging)),
    check("lists.maximum", "§8 Page size", "No page holds more than 100", maximum(paging)),
    check("lists.beyond", CLAUSE, "A page beyond the last one is empty", beyond(paging)),
  ];
}

function envelope(survey: Survey): Outcome {
  const seen = listings(survey).filter((sight) => isSuccess(sight) && sight.next !== undefined);
  const forms = new Map(seen.map((sight) => [form(sight.answer?.json).replace(named(sight), "*"), sight] as const));
  if (seen.length === 0) return unseen("No list could be read.");
  if (forms.size === 1) return pass(`${seen.length} answers: ${[...forms.keys()][0]}`);
  return differs([...forms].map(([text, { title }]) => `${title}: ${text}`).join("; "));
}

/** The name of the items where an envelope names them after what they are: it is not the same in every list. */
function named({ answer, items }: ListSight): string {
  const json = answer?.json;
  if (typeof json !== "object" || json === null || Array.isArray(json)) return "\0";
  const name = Object.entries(json).find(([, value]) => value === items)?.[0] ?? "\0";
  return name === "data" || ITEM_NAMES.includes(name) ? "\0" : name;
}

const COUNT_ONLY = "The server does not tell the size of a page, and there are too few objects to see it.";

function defaultSize(sight: ListSight, expected: number): Outcome {
  if (sight.next === undefined) return unseen(why(sight));
  const count = sight.items.length;
  if (sight.size === expected || (count === expected && sight.next === "more")) return pass(`${expected} a page.`);
  if (sight.size !== undefined) return differs(`The server says ${sight.size} a page.`);
  if (count > expected) return differs(`${count} came.`);
  return sight.next === "more" ? differs(`${count} came, and there are more.`) : unseen(COUNT_ONLY);
}

function perPage(paging: PagingSight | undefined): Outcome {
  if (paging === undefined) return unseen("There is nothing to list.");
  const { single } = paging;
  if (single.next === undefined) return unseen(why(single));
  if (single.items.length === 1) return pass("One was asked for, and one came.");
  return differs(`One was asked for, and ${single.items.length} came (${single.title}).`);
}

/** The client asks for 100 a page and counts pages up: a server that ignores `page` repeats itself. */
function second(paging: PagingSight | undefined): Outcome {
  if (paging === undefined || paging.single.ids.length === 0) return unseen("There is nothing to list.");
  const { single, second: next, largest } = paging;
  if (largest.ids.length < 2) return unseen("There is only one object to list.");
  if (next.next === undefined) return unseen(why(next));
  const [first] = single.ids;
  if (!next.ids.includes(first ?? "")) return pass();
  if (single.ids.length > 1) return differs(`The server heeds neither page nor per_page (${next.title}).`);
  return stops(
    `Page 2 holds what page 1 holds (${next.title}). hostform does not act on half a listing.`,
    "Report it to the host: no account with more than 100 objects of a kind can be read.",
  );
}

function maximum(paging: PagingSight | undefined): Outcome {
  if (paging === undefined) return unseen("There is nothing to list.");
  const { over } = paging;
  if (over.answer?.status === 422) return pass("per_page=101 is refused (422).");
  if (over.next === undefined) return unseen(why(over));
  if (over.items.length > 100) return differs(`per_page=101 gives ${over.items.length}.`);
  if (over.size === undefined) return unseen(COUNT_ONLY);
  return over.size <= 100
    ? pass(`per_page=101 is taken for ${over.size}.`)
    : differs(`per_page=101 gives ${over.size} a page.`);
}

/** Where a list does not tell its end, the client finds it by asking for one page more. */
function beyond(paging: PagingSight | undefined): Outcome {
  if (paging === undefined) return unseen("There is nothing to list.");
  const { beyond: page, largest } = paging;
  const silent = largest.next === "silent";
  const needed = "hostform asks for it when a list does not tell its end.";
  if (page.answer === undefined) return unseen(why(page));
  if (page.next === undefined) {
    const { status } = page.answer;
    const what = `It is answered with ${status}.`;
    return silent && !NO_PAGE.includes(status) ? stops(`${what} ${needed}`) : differs(what);
  }
  if (page.items.length > 0) return differs(`It holds ${page.items.length}.`);
  return page.next === "more" ? differs("It is empty, and the server says that there are more.") : pass();
}

function why({ answer, title }: ListSight): string {
  if (answer === undefined) return `${title} was not answered.`;
  return answer.status === 403
    ? `The token may not (403): ${title}.`
    : `${title} could not be read (${answer.status}).`;
}
