/**
 * Checks of a page that a schema cannot express: its items, numbers and links must be consistent with each other and
 * with the request.
 */
import type { Placed } from "./document.ts";
import type { Known } from "./schemas.ts";

type Fields = Readonly<Record<string, unknown>>;

const MOST = 100;

/**
 * Returns the errors in a page, with any envelope. Checks only existing fields. Returns no errors for a response that
 * is not a page.
 * @param url URL of the request.
 * @param profile Profile of the server. Undefined: pages start at 1, and no page follows the last page.
 */
export function pageMistakes({ parameters }: Placed, url: URL, body: unknown, profile?: Known): string[] {
  const size = parameters.find(({ name, in: place }) => place === "query" && name === "per_page");
  const items = itemsOf(body);
  if (size === undefined || items === undefined) return [];
  const asked = (name: string, usual: unknown) => Number(url.searchParams.getAll(name).at(-1) ?? usual);
  const start = profile?.pages === "from_zero" ? 0 : 1;
  const perPage = Math.min(MOST, asked("per_page", size.schema.default));
  const meta = fieldsOf(fieldsOf(body).meta);
  const about = {
    ...fieldsOf(body),
    ...meta,
    ...fieldsOf(meta.pagination),
    ...fieldsOf(fieldsOf(body).pagination),
  };
  const shown = about.current_page ?? about.page;
  const wanted = asked("page", start);
  // The server returns the last page in place of a later page.
  const page = profile?.past_end === "repeats" && typeof shown === "number" ? Math.min(wanted, shown) : wanted;
  const links = { ...fieldsOf(fieldsOf(body).links), ...fieldsOf(body) };
  const { total } = about;
  const pages = about.total_pages;
  const last = about.last_page ?? (typeof pages === "number" ? start + pages - 1 : undefined);
  const isLast = typeof last === "number" ? page >= last : undefined;
  const first = items.length === 0 ? null : (page - start) * perPage + 1;
  const mistakes: string[] = [];
  const expected = (name: string, found: unknown, wanted: unknown) => {
    if (found !== undefined && found !== wanted) mistakes.push(`the page's ${name} does not fit the rest of it`);
  };
  const leads = (name: string, found: unknown, to: number | null) =>
    expected(name, typeof found === "string" ? pageOf(found) : found, to);

  if (items.length > perPage) mistakes.push("the page holds more than was asked for");
  expected("number", shown, page);
  expected("size", about.per_page, perPage);
  expected("from", about.from, first);
  expected("to", about.to, first === null ? null : first + items.length - 1);
  if (typeof total === "number") {
    expected("last page", last, start + Math.max(1, Math.ceil(total / perPage)) - 1);
    expected("number of items", items.length, Math.min(perPage, Math.max(0, total - (page - start) * perPage)));
  }
  if (about.has_more === true) expected("has_more", items.length, perPage);
  leads("first link", links.first, start);
  if (typeof last === "number") leads("last link", links.last, last);
  for (const name of ["prev", "prev_page_url"]) leads("previous link", links[name], page > start ? page - 1 : null);
  if (isLast !== undefined) leads("next link", links.next, isLast ? null : page + 1);
  else if (typeof links.next_page_url === "string") leads("next link", links.next_page_url, page + 1);
  return mistakes;
}

function itemsOf(body: unknown): readonly unknown[] | undefined {
  return Array.isArray(body) ? body : Object.values(fieldsOf(body)).find((value) => Array.isArray(value));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function pageOf(link: string): number {
  return URL.canParse(link) ? Number(new URL(link).searchParams.get("page")) : Number.NaN;
}
