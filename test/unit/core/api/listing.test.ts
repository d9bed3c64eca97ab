import { describe, expect, it } from "vitest";
import { FailedAttempt } from "../../../../src/core/api/failed-attempt.ts";
import { HostLists } from "../../../../src/core/api/host-lists.ts";
import { createListing } from "../../../../src/core/api/listing.ts";
import { ApiError } from "../../../../src/core/model/index.ts";
import fc, { runs as runsOf } from "../../../support/fc.ts";
import { api, failureOf, setUp, useNock } from "./support.ts";

useNock();

const ORIGIN = "https://elsewhere.example";
const records = (count: number, from = 1) => Array.from({ length: count }, (_, i) => ({ id: from + i }));

/** Page of a server's response: its items, its number, the number of the first page, the page size, the item count. */
interface Cut {
  readonly rows: readonly object[];
  readonly page: number;
  readonly first: number;
  readonly size: number;
  readonly count: number;
}

/** Every true statement that a server can add to a page. */
const statements = ({ rows, page, first, size, count }: Cut) => {
  const pages = Math.max(1, Math.ceil(count / size));
  const last = first + pages - 1;
  const at = (number: number) => `${ORIGIN}/steal?page=${number}&per_page=${size}`;
  const from = rows.length === 0 ? null : (page - first) * size + 1;
  return {
    current_page: page,
    last_page: last,
    total_pages: pages,
    total: count,
    per_page: size,
    from,
    next: page < last ? at(page + 1) : null,
    prev: page > first ? at(page - 1) : null,
    firstUrl: at(first),
    more: page < last,
  };
};

type Said = ReturnType<typeof statements>;

/** Forms of the list envelope, which the specification leaves open. */
const envelopes: readonly ((rows: readonly unknown[], said: Said) => unknown)[] = [
  (data, { current_page, last_page, total, per_page, from, next, prev, firstUrl }) => ({
    data,
    links: { first: firstUrl, last: null, prev, next },
    meta: { current_page, from, last_page, per_page, to: null, total },
  }),
  (data, { current_page: page, total, per_page }) => ({ data, meta: { page, per_page: String(per_page), total } }),
  (data, { total }) => ({ data, total }),
  (items, { current_page: page, total_pages, per_page }) => ({ items, pagination: { page, per_page, total_pages } }),
  (data, { current_page, total_pages }) => ({ data, meta: { pagination: { current_page, total_pages } } }),
  (services, { more }) => ({ services, has_more: more }),
  (data, { current_page, next, prev, from }) => ({
    current_page,
    data,
    from,
    links: [{ url: null, label: "1" }],
    next_page_url: next,
    prev_page_url: prev,
  }),
  (data) => ({ data }),
  (rows) => rows,
  (rows) => ({ data: rows.map((data) => ({ data })) }),
];

interface Host {
  readonly first: 0 | 1;
  readonly size: number;
  readonly pastEnd: "empty" | "404" | "422" | "repeats";
  /** Response to page 0 if the host counts from 1. */
  readonly zero: "422" | "500" | "first" | "empty";
  readonly empty: "[]" | "null" | "{}" | "nothing" | "links";
  readonly wrap: (rows: readonly unknown[], said: Said) => unknown;
}

const refused = (status: number) =>
  new FailedAttempt("listServices", {
    code: status === 404 ? "api.not_found" : "api.rejected",
    summary: `refused (${status})`,
    reached: "answered",
    status,
    serverMessage: "There is no such page.",
  });

/** Returns the host's response to a page of `all`. */
function answer({ first, size, pastEnd, zero, empty, wrap }: Host, all: readonly object[], asked: number): unknown {
  if (asked < first && zero !== "first" && zero !== "empty") throw refused(Number(zero));
  const last = first + Math.max(1, Math.ceil(all.length / size)) - 1;
  if (asked > last && (pastEnd === "404" || pastEnd === "422")) throw refused(Number(pastEnd));
  const page = asked < first && zero === "first" ? first : pastEnd === "repeats" ? Math.min(asked, last) : asked;
  const rows = page < first ? [] : all.slice((page - first) * size, (page - first + 1) * size);
  const body = wrap(rows, statements({ rows, page, first, size, count: all.length }));
  if (rows.length > 0 || empty === "[]") return body;
  if (empty === "nothing") return {};
  if (empty === "links") return { _links: { self: { href: `${ORIGIN}/api/v1/services` } } };
  const held = empty === "null" ? null : {};
  if (Array.isArray(body)) return held;
  return Object.fromEntries(
    Object.entries(body as object).map(([name, value]) => [name, value === rows ? held : value]),
  );
}

/** Returns a listing of services that reads with `fetchPage`, and the numbers of the requested pages. */
function listingOf(
  fetchPage: (page: number) => unknown,
  maxPages = 50,
  more: { pageSize?: number; host?: HostLists; readAnother?: () => Promise<unknown> } = {},
) {
  const asked: number[] = [];
  const listing = createListing({
    endpoint: "listServices",
    maxPages,
    pageSize: 100,
    host: new HostLists(),
    ...more,
    fetchPage: async (page) => {
      asked.push(page);
      return { json: await fetchPage(page) };
    },
  });
  return { listing, asked };
}

/** Returns a host that counts from 1 and has these pages. */
const pageOf = (pages: readonly unknown[]) => (page: number) => {
  if (pages[page - 1] === undefined) throw refused(page === 0 ? 422 : 404);
  return pages[page - 1];
};

const sorted = (ids: unknown) => (Array.isArray(ids) ? ids.toSorted((a, b) => a - b) : ids);

const idsOf = async (listing: { all(): Promise<{ id: string }[]> }) =>
  (await listing.all()).map(({ id }) => Number(id));

describe("every list envelope, for every first page number and every response after the last page", () => {
  const names = [
    ...(["current_page", "last_page", "total_pages", "total", "per_page"] as const),
    ...(["from", "next", "prev", "has_more"] as const),
  ];
  const host = fc.record({
    first: fc.constantFrom(0 as const, 1 as const),
    size: fc.integer({ min: 1, max: 8 }),
    pastEnd: fc.constantFrom("empty" as const, "404" as const, "422" as const, "repeats" as const),
    zero: fc.constantFrom("422" as const, "500" as const, "first" as const, "empty" as const),
    empty: fc.constantFrom("[]" as const, "null" as const, "{}" as const, "nothing" as const, "links" as const),
  });
  const statementsAt = fc
    .tuple(fc.subarray([...names]), fc.constantFrom("meta", "pagination", "top"))
    .map(([said, where]) => (data: readonly unknown[], all: Said) => {
      const every = { ...all, has_more: all.more };
      const meta = Object.fromEntries(said.map((name) => [name, every[name]]));
      return where === "top" ? { data, ...meta } : { data, [where]: meta };
    });
  const shape = fc.oneof(statementsAt, fc.constantFrom(...envelopes));
  const counts = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 3 });

  it.each([
    [false, 0.06],
    [true, 0.2],
  ])("returns all rows or fails, and never fewer rows (whole: %s)", async (whole, most) => {
    let refusals = 0;
    let lists = 0;
    await fc.assert(
      fc.asyncProperty(host, counts, shape, fc.integer({ min: 0, max: 3 }), async (drawn, sizes, wrap, clamped) => {
        const known = new HostLists();
        const list = (all: readonly object[], asked: number[], readAnother?: () => Promise<unknown>) =>
          createListing({
            endpoint: "listServices",
            host: known,
            maxPages: 100,
            pageSize: drawn.size + clamped,
            whole,
            fetchPage: async (page, size) => {
              asked.push(page);
              expect(asked.length).toBeLessThan(99);
              return { json: answer({ ...drawn, wrap, size: Math.min(size, drawn.size) }, all, page) };
            },
            ...(readAnother && { readAnother }),
          });
        // The client reads several lists of one host. Knowledge from the first list must be true for the next list.
        for (const count of sizes) {
          const all = records(count);
          const asked: number[] = [];
          const found = await idsOf(list(all, asked, () => idsOf(list(records(1), [])))).catch(
            (error: unknown) => error,
          );
          lists += 1;
          if (found instanceof ApiError && found.diagnostics[0]?.code === "api.inconclusive")
            expect(drawn.empty).not.toBe("[]");
          else if (found instanceof ApiError) {
            expect(found.diagnostics[0]?.code).toBe("api.pagination");
            refusals += 1;
          } else expect(sorted(found)).toEqual(all.map(({ id }) => id));
          expect([undefined, drawn.first]).toContain(known.first);
        }
      }),
      { numRuns: runsOf(1500) },
    );
    expect(refusals / lists).toBeLessThan(most);
  });

  it("requests 100 records a page and counts the page number itself, whatever URL the server returns", async () => {
    const next = `${ORIGIN}/steal`;
    api()
      .get("/services?page=1&per_page=100")
      .reply(200, { data: records(2), links: { next, prev: null } });
    api()
      .get("/services?page=2&per_page=100")
      .reply(200, { data: records(1, 3), links: { next: null, prev: next } });
    const all = await setUp().client.services.list().all();
    expect(all.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  });

  it("reads a page only when the page is needed, and again for each iteration", async () => {
    const { listing, asked } = listingOf((page) => ({ data: records(2, page * 2), has_more: true }));
    for await (const { id } of listing) if (id === "4") break;
    expect(asked).toEqual([1, 2]);
    for await (const _ of listing) break;
    expect(asked).toEqual([1, 2, 1]);
  });
});

describe("page 0", () => {
  const measured: { why: string; answers: Record<number, unknown>; found: number[] | string; asked: number[] }[] = [
    {
      why: "last_page 0 beside a total: the rows are on page 0",
      answers: {
        0: { data: records(2), meta: { current_page: 0, last_page: 0, total: 2 } },
        1: { data: [], meta: { current_page: 1, last_page: 0, total: 2 } },
      },
      found: [1, 2],
      asked: [1, 0],
    },
    {
      why: "page 1 that is called page 0 is the first page",
      answers: {
        1: { data: records(2), meta: { current_page: 0, last_page: 1 } },
        2: { data: records(1, 3), meta: { current_page: 1, last_page: 1 } },
      },
      found: [1, 2, 3],
      asked: [1, 2],
    },
    {
      why: "page 1 that is called page 2 has one before it",
      answers: {
        0: { data: records(2), meta: { current_page: 1, last_page: 2 } },
        1: { data: records(1, 3), meta: { current_page: 2, last_page: 2 } },
      },
      found: [3, 1, 2],
      asked: [1, 0],
    },
    {
      why: "an empty page of 0 pages is no empty account: pages may be counted from 0 altogether",
      answers: { 0: { data: records(2), total_pages: 0 }, 1: { data: [], total_pages: 0 } },
      found: [1, 2],
      asked: [1, 0],
    },
    {
      why: "a full page that is page 0, where the last page may be the one after it",
      answers: {
        1: { data: records(100), page: 0, total_pages: 1 },
        2: { data: records(1, 101), page: 1, total_pages: 1 },
      },
      found: records(101).map(({ id }) => id),
      asked: [1, 2],
    },
    {
      why: "a first page that begins with row 26, and no page before it",
      answers: { 1: { data: records(2, 26), meta: { from: 26, current_page: 1, last_page: 1 } } },
      found: "begins with row 26",
      asked: [1, 0],
    },
    {
      why: "a page before page 1, which is not there",
      answers: { 1: { data: records(2), links: { prev: "/services?page=0", next: null } } },
      found: "a page before page 1",
      asked: [1, 0],
    },
    {
      why: "a total beyond what all pages hold is looked for again, then refused",
      answers: { 1: { data: records(2), links: { prev: null, next: null }, meta: { total: 3 } }, 2: { data: [] } },
      found: "3 objects, but the pages contain 2",
      asked: [1, 2, 0, 1, 2],
    },
    {
      why: "an empty account that names no number is asked for page 0 once",
      answers: { 0: { data: [] }, 1: { data: [] } },
      found: [],
      asked: [1, 0],
    },
    {
      why: "an endpoint that is not there is no list that is counted from 0",
      answers: {},
      found: "refused (404)",
      asked: [1, 0],
    },
  ];
  it.each(measured)("$why", async ({ answers, found, asked: expected }) => {
    const { listing, asked } = listingOf((page) => {
      if (answers[page] === undefined) throw refused(404);
      return answers[page];
    });
    const result = await idsOf(listing).catch((error: unknown) => error);
    if (typeof found === "string")
      expect(String((result as ApiError).message) + JSON.stringify((result as ApiError).diagnostics)).toContain(found);
    else expect(result).toEqual(found);
    expect(asked).toEqual(expected);
  });

  it("is requested by one of several concurrent listings, and the others use its result", async () => {
    const lists = new HostLists();
    const listings = [1, 2, 3, 4].map(() =>
      listingOf(
        (page) => {
          if (page === 0) throw refused(422);
          return { data: page === 1 ? records(2) : [] };
        },
        50,
        { host: lists },
      ),
    );
    const found = await Promise.all(listings.map(({ listing }) => idsOf(listing)));
    expect(found).toEqual(Array(4).fill([1, 2]));
    expect(listings.flatMap(({ asked }) => asked).filter((page) => page === 0)).toHaveLength(1);
  });

  it("is not answered by a failure that is unrelated to pages", async () => {
    const { listing } = listingOf((page) => {
      if (page === 0) throw refused(403);
      return { data: [] };
    });
    expect(await failureOf(listing.all())).toMatchObject({ status: 403 });
  });

  it("a proxy's page after the last page ends the list only while the first page still exists", async () => {
    const html = (status: number) =>
      new FailedAttempt("listServices", { code: "api.malformed", summary: "A page", reached: "answered", status });
    const host = (down: boolean) => {
      let fallen = false;
      return (page: number) => {
        if (page === 1 && !fallen) return { data: records(2), links: { prev: null } };
        if (page === 1 && !down) return { data: records(2), links: { prev: null } };
        fallen = true;
        throw html(404);
      };
    };
    expect(await idsOf(listingOf(host(false)).listing)).toEqual([1, 2]);
    expect(await failureOf(listingOf(host(true)).listing.all())).toMatchObject({ status: 404 });
  });
});

describe("items at any position in the envelope", () => {
  const rows = records(2);
  it.each<[unknown]>([
    [{ rows, page: 1, total: 2 }],
    [{ response: { services: rows }, meta: { total: 2 } }],
    [{ _embedded: { services: rows }, page: { number: 1, totalElements: 2 } }],
    [{ data: { items: rows, total: 2 } }],
    [{ data: { 1: rows[0], 2: rows[1] }, total: 2 }],
    [{ success: true, message: "OK", errors: [], sort: ["-id"], hosting: rows, _meta: { total: 2 } }],
    [{ data: [], services: rows, total: 2 }],
    [{ included: [{ id: 9 }], data: rows, total: 2 }],
    [{ data: rows.map((service) => ({ service })), total: 2 }],
    [{ data: rows.map(({ id }) => ({ type: "service", serviceId: id })), total: 2 }],
  ])("%j", async (body) => {
    expect(await idsOf(listingOf(pageOf([body])).listing)).toEqual([1, 2]);
  });

  it.each<[unknown]>([
    [{ rows: [], total: 0 }],
    [{ things: [], page: 1, per_page: 100 }],
    [{ response: { services: [] }, has_more: false }],
    [{ pagination: { total: 0 } }],
    [{ success: true, code: 200, message: "OK", data: [] }],
    [{ message: "OK", services: null, page_info: { total: 0 } }],
    [{ data: { data: [], total: 0 } }],
  ])("an empty list is %j", async (body) => {
    expect(await idsOf(listingOf(pageOf([body])).listing)).toEqual([]);
  });

  it("does not choose between two lists of records under unknown names", async () => {
    const error = await failureOf(
      listingOf(() => ({ mine: records(1), yours: records(1, 2), total: 2 })).listing.all(),
    );
    expect(error.diagnostics[0]?.code).toBe("api.malformed");
  });
});

describe("rows that move between pages", () => {
  it("make the client read the list again if a total shows that rows are missing", async () => {
    // The host deletes item 1 after page 1. Item 3 then moves to page 1, so no page that was read contains item 3.
    const before = [
      { data: records(2), total: 4, links: { prev: null } },
      { data: records(1, 4), total: 3 },
    ];
    const after = [
      { data: records(2, 2), total: 3, links: { prev: null } },
      { data: records(1, 4), total: 3 },
    ];
    const left = [...before, ...after];
    const { listing, asked } = listingOf((page) => {
      if (page === 0) throw refused(422);
      return left.shift();
    });
    // A GET detects that a listed item no longer exists.
    expect(await idsOf(listing)).toEqual([1, 2, 4]);
    expect(asked).toEqual([1, 2]);
  });

  it("make the list fail if the rows stay missing", async () => {
    const { listing } = listingOf((page) => {
      if (page === 0) throw refused(422);
      return { data: page === 1 ? records(2) : records(1, 2), total: 5, has_more: page === 1 };
    });
    const error = await failureOf(listing.all());
    expect(error.diagnostics[0]?.code).toBe("api.pagination");
  });
});

/**
 * The first page announces two pages. Before page 2 is read, the host deletes one object, so page 1 contains all
 * the rest.
 */
const SHRUNK = [
  { data: records(2), meta: { last_page: 2, total: 3, per_page: 2 } },
  { data: [], meta: { last_page: 1, total: 2, per_page: 2 } },
];

describe("signs for the end of a list", () => {
  const table: { why: string; pages: unknown[]; asks: number }[] = [
    { why: "an empty page ends it where the server says nothing", pages: [{ data: [] }], asks: 1 },
    { why: "an empty page ends it where objects went away meanwhile", asks: 2, pages: SHRUNK },
    {
      why: "the resource's own name is known even if its list is empty",
      pages: [{ services: [], warnings: [] }],
      asks: 1,
    },
    {
      why: "a total beyond the last page means more",
      pages: [
        { data: records(2), meta: { last_page: 1, total: 3 } },
        { data: records(1, 3), meta: { last_page: 1, total: 3 } },
      ],
      asks: 2,
    },
    {
      why: "a short page is not the end when the server says there is more",
      pages: [
        { data: records(1), has_more: true },
        { data: records(1, 2), has_more: false },
      ],
      asks: 2,
    },
    {
      why: "disagreeing signs mean more: a hidden service might be ordered again",
      pages: [{ data: records(1), meta: { current_page: 1, last_page: 1 }, links: { next: "x" } }, { data: [] }],
      asks: 2,
    },
    {
      why: "a total alone shows the end",
      pages: [
        { data: records(2), total: 3 },
        { data: records(1, 3), total: 3 },
      ],
      asks: 2,
    },
    {
      why: "without signs the first page's length is the size in force: the server may have clamped per_page",
      pages: [{ data: records(3) }, { data: records(3, 4) }, { data: records(2, 7) }],
      asks: 3,
    },
    {
      why: "an envelope inside data is seen through",
      pages: [{ data: { services: records(2), has_more: false } }],
      asks: 1,
    },
    {
      why: "the only list there is holds the items, whatever its name",
      pages: [{ hosting: records(2), meta: { last_page: 1 }, links: [] }],
      asks: 1,
    },
  ];
  for (const { why, pages, asks } of table) {
    it(why, async () => {
      const { listing, asked } = listingOf(pageOf(pages));
      await listing.all();
      expect(asked.filter((page) => page > 0).length).toBe(asks);
    });
  }

  it("a record that moves to the next page during the read is returned once", async () => {
    const pages = [
      { data: records(3), has_more: true },
      { data: records(3, 3), has_more: false },
    ];
    const { listing } = listingOf(pageOf(pages));
    expect(await idsOf(listing)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("a list with contradictions", () => {
  it("fails if a page repeats, because the server ignores the page number", async () => {
    const { listing, asked } = listingOf(() => ({ data: records(100) }));
    expect(await failureOf(listing.all())).toMatchObject({ diagnostics: [{ code: "api.pagination" }] });
    expect(asked).toEqual([1, 2, 2, 0]);
  });

  it("is cut off with an error if it does not end", async () => {
    const { listing, asked } = listingOf((page) => ({ data: records(1, page), has_more: true }), 5);
    expect(await failureOf(listing.all())).toMatchObject({ diagnostics: [{ code: "api.pagination" }] });
    expect(asked.length).toBe(5);
  });

  const promises: object[] = [
    { meta: { total: 3, per_page: 100, current_page: 1, last_page: 1 } },
    { meta: { current_page: 1, last_page: 4 } },
    { pagination: { total_pages: "2" } },
    { has_more: true },
    { next_page_url: `${ORIGIN}/services?page=2` },
    { links: { next: `${ORIGIN}/services?page=2` } },
    { total: 1 },
  ];
  for (const promise of promises) {
    it(`is incomplete if an empty page is beside ${JSON.stringify(promise)}`, async () => {
      const error = await failureOf(listingOf(() => ({ data: [], ...promise })).listing.all());
      expect(error).toMatchObject({ reached: "answered", diagnostics: [{ code: "api.pagination" }] });
      expect(error.diagnostics[0]?.detail).toContain("Page 1 is empty");
    });
  }

  it("is incomplete if a later page is empty too early", async () => {
    const { listing } = listingOf((page) => ({ data: page === 1 ? records(2) : [], total: 3 }));
    const error = await failureOf(listing.all());
    expect(error.diagnostics[0]).toMatchObject({ code: "api.pagination" });
    expect(error.diagnostics[0]?.detail).toContain("more than the 2 objects received");
  });

  const shapes: [unknown, string][] = [
    [{ trace: [] }, 'an object with "trace"'],
    [{ data: { things: [] } }, 'an object with "data"'],
    [{ message: "Not now" }, 'an object with "message"'],
    [{ data: null, message: "Later" }, 'an object with "data", "message"'],
    [{ data: {}, notice: "Later" }, 'an object with "data", "notice"'],
    [{ links: { docs: "https://api.example/docs" } }, 'an object with "links"'],
    [{ _links: { self: { href: "/x" } }, message: "Later" }, 'an object with "_links", "message"'],
    [{ services: null, grants: null }, 'an object with "services", "grants"'],
    [{ things: null }, 'an object with "things"'],
    [{ things: ["a"], page: 1 }, 'an object with "things", "page"'],
    [{ data: { 7: { domain: "a.example" } }, page: 1 }, 'an object with "data", "page"'],
    [{ limit: 60, detail: "Later" }, 'an object with "limit", "detail"'],
    [{ services_a: [], services_b: [] }, 'an object with "services_a", "services_b"'],
    ["none", "a string"],
    [{ data: [{ name: "no id" }] }, 'an object with "name"'],
    [{ data: ["7"] }, "a string"],
    [{ data: [{ id: { nested: 1 } }] }, 'an object with "id"'],
  ];
  for (const [shape, came] of shapes) {
    it(`is no empty list as ${JSON.stringify(shape)}, and the error names the content`, async () => {
      const error = await failureOf(listingOf(() => shape).listing.all());
      expect(error).toMatchObject({ endpoint: "GET /api/v1/services", diagnostics: [{ code: "api.malformed" }] });
      expect(error.diagnostics[0]?.detail).toContain(came);
    });
  }
});

describe("pages after the first", () => {
  const page = (number: number, last: number, size = 2) => ({
    data: records(number > last ? 0 : size, (number - 1) * size + 1),
    meta: { current_page: number, last_page: last, per_page: size },
  });
  /** Returns the page numbers that the listing requested before the previous page arrived. */
  const askedAhead = async (said: (number: number) => unknown, how: "all" | "one by one" = "all") => {
    const [asked, ahead]: [number[], number[]] = [[], []];
    let open = 0;
    const lists = new HostLists();
    lists.first = 1;
    const fetchPage = async (number: number) => {
      asked.push(number);
      if (open > 0) ahead.push(number);
      open += 1;
      await new Promise(setImmediate);
      open -= 1;
      return { json: said(number) };
    };
    const listing = createListing({ endpoint: "listServices", host: lists, maxPages: 30, pageSize: 2, fetchPage });
    const rows: string[] = [];
    if (how === "all") rows.push(...(await listing.all()).map(({ id }) => id));
    else for await (const { id } of listing) rows.push(id);
    return { asked, ahead, rows: rows.length };
  };

  it("are read concurrently, nine at most, each once", async () => {
    const { asked, ahead, rows } = await askedAhead((number) => page(number, 12));
    expect(asked).toEqual(Array.from({ length: 12 }, (_, at) => at + 1));
    expect(ahead.slice(0, 8)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    expect(rows).toBe(24);
  });

  it("are read one by one for a caller that may stop", async () => {
    const { ahead, rows } = await askedAhead((number) => page(number, 12), "one by one");
    expect(ahead).toEqual([]);
    expect(rows).toBe(24);
  });

  it("are read one by one if the first page announces no others", async () => {
    const { ahead, rows } = await askedAhead((number) => ({ data: page(number, 5).data }));
    expect(ahead).toEqual([]);
    expect(rows).toBe(10);
  });

  it("are read to the end if the first page announces too few", async () => {
    const { rows } = await askedAhead((number) => page(number, number === 1 ? 3 : 6));
    expect(rows).toBe(12);
  });

  it("cost nine requests at most if the first page announces missing pages, and the list fails the second time", async () => {
    const asked: number[] = [];
    const lists = new HostLists();
    lists.first = 1;
    const fetchPage = async (number: number) => {
      asked.push(number);
      return { json: { ...page(number, 1), meta: { current_page: number, last_page: 1000 } } };
    };
    const listing = createListing({ endpoint: "listServices", host: lists, maxPages: 2000, pageSize: 2, fetchPage });
    await expect(listing.all()).rejects.toMatchObject({ diagnostics: [{ code: "api.pagination" }] });
    expect(asked.slice(10)).toEqual([1, 2]);
  });
});
