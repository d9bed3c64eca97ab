import { describe, expect, it } from "vitest";
import { serviceForm } from "../../../src/api/forms.ts";
import { createListing } from "../../../src/api/listing.ts";
import fc from "../../support/fc.ts";
import { api, failureOf, setUp, useNock } from "./support.ts";

useNock();

const ORIGIN = "https://elsewhere.example";
const records = (count: number, from = 1) => Array.from({ length: count }, (_, i) => ({ id: from + i }));

/** A page of `all`, as a server with this page size cuts it. */
const cut = (all: readonly object[], page: number, size: number) => all.slice((page - 1) * size, page * size);

/** The envelopes of the first gap, each with whether its last page is known to be the last. */
const envelopes: Record<string, { known: boolean; wrap: (all: object[], page: number, size: number) => unknown }> = {
  "data, links and meta": {
    known: true,
    wrap: (all, page, size) => ({
      data: cut(all, page, size),
      links: { first: ORIGIN, last: ORIGIN, prev: null, next: page * size < all.length ? `${ORIGIN}/steal` : null },
      meta: {
        current_page: page,
        from: null,
        last_page: Math.max(1, Math.ceil(all.length / size)),
        per_page: size,
        to: null,
        total: all.length,
      },
    }),
  },
  "data and meta": {
    known: true,
    wrap: (all, page, size) => ({
      data: cut(all, page, size),
      meta: { page, per_page: String(size), total: all.length },
    }),
  },
  "items and pagination": {
    known: true,
    wrap: (all, page, size) => ({
      items: cut(all, page, size),
      pagination: { page, per_page: size, total_pages: Math.ceil(all.length / size) },
    }),
  },
  "resource name and has_more": {
    known: true,
    wrap: (all, page, size) => ({ services: cut(all, page, size), has_more: page * size < all.length }),
  },
  "flat paginator": {
    known: true,
    wrap: (all, page, size) => ({
      current_page: page,
      data: cut(all, page, size),
      links: [{ url: null, label: "1" }],
      next_page_url: page * size < all.length ? `${ORIGIN}/steal?page=${page + 1}` : null,
    }),
  },
  "data alone": { known: false, wrap: (all, page, size) => ({ data: cut(all, page, size) }) },
  "a bare array": { known: false, wrap: (all, page, size) => cut(all, page, size) },
};

/** A listing of services over a function, with the pages it asked for. */
function listingOf(fetchPage: (page: number) => unknown, maxPages = 50) {
  const asked: number[] = [];
  const listing = createListing({
    endpoint: "listServices",
    form: serviceForm,
    maxPages,
    fetchPage: async (page) => {
      asked.push(page);
      return fetchPage(page);
    },
  });
  return { listing, asked };
}

describe("every envelope gives the same listing", () => {
  for (const [name, { known, wrap }] of Object.entries(envelopes)) {
    it(`${name}: all records once, for any number of them and any page size the server has in force`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 25 }), async (count, size) => {
          const all = records(count);
          const { listing, asked } = listingOf((page) => wrap(all, page, size), 100);
          expect((await listing.all()).map(({ id }) => Number(id))).toEqual(all.map(({ id }) => id));
          const pages = Math.max(1, Math.ceil(count / size));
          // Where the server gives no sign, one page more may be needed to see the end.
          expect(asked.length).toBeLessThanOrEqual(known ? pages : pages + 1);
        }),
        { numRuns: 60 },
      );
    });
  }

  it("asks for 100 records a page and counts the page up itself, whatever address the server offers", async () => {
    const next = `${ORIGIN}/steal`;
    api()
      .get("/services?page=1&per_page=100")
      .reply(200, { data: records(2), links: { next } });
    api()
      .get("/services?page=2&per_page=100")
      .reply(200, { data: records(1, 3), links: { next: null } });
    const all = await setUp().client.services.list().all();
    expect(all.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  });

  it("fetches a page only when it is needed, and anew for each iteration", async () => {
    const { listing, asked } = listingOf((page) => ({ data: records(2, page * 2), has_more: true }));
    for await (const { id } of listing) if (id === "4") break;
    expect(asked).toEqual([1, 2]);
    for await (const _ of listing) break;
    expect(asked).toEqual([1, 2, 1]);
  });
});

/** Two pages were promised; when the second is asked for, one object has gone and all are on the first. */
const SHRUNK = [
  { data: records(2), meta: { last_page: 2, total: 3, per_page: 2 } },
  { data: [], meta: { last_page: 1, total: 2, per_page: 2 } },
];

describe("signs of the end", () => {
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
      why: "a total alone tells the end",
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
      const { listing, asked } = listingOf((page) => pages[page - 1]);
      await listing.all();
      expect(asked.length).toBe(asks);
    });
  }

  it("a record that moved to the next page while paging comes once", async () => {
    const pages = [
      { data: records(3), has_more: true },
      { data: records(3, 3), has_more: false },
    ];
    const { listing } = listingOf((page) => pages[page - 1]);
    expect((await listing.all()).map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5"]);
  });
});

describe("refuses to guess", () => {
  it("a page that repeats is an error: the server ignores the page number", async () => {
    const { listing, asked } = listingOf(() => ({ data: records(100) }));
    expect(await failureOf(listing.all())).toMatchObject({ diagnostics: [{ code: "api.pagination" }] });
    expect(asked).toEqual([1, 2]);
  });

  it("a listing that does not end is cut off with an error", async () => {
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
    it(`an empty page beside ${JSON.stringify(promise)} is half a listing, not an empty one`, async () => {
      const error = await failureOf(listingOf(() => ({ data: [], ...promise })).listing.all());
      expect(error).toMatchObject({ reached: "answered", diagnostics: [{ code: "api.pagination" }] });
      expect(error.diagnostics[0]?.detail).toContain("Page 1 is empty");
    });
  }

  it("nor is a later page that is empty too early its end", async () => {
    const { listing } = listingOf((page) => ({ data: page === 1 ? records(2) : [], total: 3 }));
    const error = await failureOf(listing.all());
    expect(error.diagnostics[0]).toMatchObject({ code: "api.pagination" });
    expect(error.diagnostics[0]?.detail).toContain("more than the 2 objects that came");
  });

  const shapes: [unknown, string][] = [
    [{ trace: [] }, 'an object with "trace"'],
    [{ data: { rows: [] } }, 'an object with "data"'],
    [{ message: "Not now" }, 'an object with "message"'],
    [{ data: null }, 'an object with "data"'],
    [{ services: null, links: [] }, 'an object with "services", "links"'],
    [{ services_a: [], services_b: [] }, 'an object with "services_a", "services_b"'],
    [{}, "an empty object"],
    ["none", "a string"],
    [null, "null"],
    [{ data: [{ name: "no id" }] }, 'an object with "name"'],
    [{ data: ["7"] }, "a string"],
    [{ data: [{ id: { nested: 1 } }] }, 'an object with "id"'],
  ];
  for (const [shape, came] of shapes) {
    it(`${JSON.stringify(shape)} is not an empty list: the error names what came`, async () => {
      const error = await failureOf(listingOf(() => shape).listing.all());
      expect(error).toMatchObject({ endpoint: "GET /api/v1/services", diagnostics: [{ code: "api.malformed" }] });
      expect(error.diagnostics[0]?.detail).toContain(came);
    });
  }
});
