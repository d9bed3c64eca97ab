// Complete lists, which a create relies on: a list that changes between its pages still contains every lasting item.
import { describe, expect, it } from "vitest";
import { FailedAttempt } from "../../../../src/core/api/failed-attempt.ts";
import { HostLists } from "../../../../src/core/api/host-lists.ts";
import type { ListReading } from "../../../../src/core/api/list-reading.ts";
import { createListing } from "../../../../src/core/api/listing.ts";
import { ApiError, fail } from "../../../../src/core/model/index.ts";
import fc, { runs } from "../../../support/fc.ts";
import { failureOf } from "./support.ts";

/** Change of the list before a page is read: a row is inserted or deleted at `at`, a fraction of the list's length. */
interface Event {
  readonly does: "insert" | "delete";
  readonly at: number;
}

interface Host {
  /** Maximum number of rows of a page. */
  readonly cap: number;
  /** True if the host uses its own page size and ignores `per_page`. */
  readonly ignores: boolean;
  readonly says: "everything" | "total" | "more" | "nothing";
  readonly first: 0 | 1;
}

const PLAIN: Host = { cap: 100, ignores: false, says: "everything", first: 1 };

/** Creates a list on a host. The host applies one group of `events` before each request. */
function setUp(host: Partial<Host>, rows: readonly number[], events: readonly (readonly Event[])[] = []) {
  const { cap, ignores, says, first } = { ...PLAIN, ...host };
  const list = [...rows];
  const stayed = new Set(rows);
  const asked: string[] = [];
  let next = 1_000_000;
  const fetchPage = async (page: number, perPage: number) => {
    for (const { does, at } of events[asked.length] ?? []) {
      const place = Math.floor(at * (list.length + (does === "insert" ? 1 : 0)));
      if (does === "insert") list.splice(place, 0, next++);
      else for (const gone of list.splice(place, 1)) stayed.delete(gone);
    }
    asked.push(`${page}/${perPage}`);
    const size = ignores ? cap : Math.min(cap, perPage);
    if (page < first)
      throw new FailedAttempt("listServices", {
        code: "api.rejected",
        summary: "no such page",
        reached: "answered",
        status: 422,
        serverMessage: "There is no such page.",
      });
    const begin = (page - first) * size;
    const data = list.slice(begin, begin + size).map((id) => ({ id }));
    const last = first + Math.max(1, Math.ceil(list.length / size)) - 1;
    if (says === "nothing") return { json: { data } };
    if (says === "total") return { json: { data, total: list.length } };
    if (says === "more") return { json: { data, has_more: page < last } };
    return { json: { data, meta: { current_page: page, last_page: last, per_page: size, total: list.length } } };
  };
  const read = async (lists = new HostLists(), pageSize = 100, whole = true) => {
    let reading: ListReading | undefined;
    const found = await createListing({
      endpoint: "listServices",
      host: lists,
      maxPages: 200,
      pageSize,
      whole,
      onRead: (read) => {
        reading = read;
      },
      fetchPage,
    }).all();
    return { ids: new Set(found.map(({ id }) => Number(id))), reading };
  };
  return { list, stayed, asked, read };
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => count - at);

describe("a complete list", () => {
  const event = fc.record({
    does: fc.constantFrom("insert" as const, "delete" as const),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });
  const order = fc.constantFrom("ascending", "descending", "unsorted");

  it("contains every row that existed the whole time, whatever was created and deleted during the read", async () => {
    const seen = { whole: 0, refused: 0, moved: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 60 }),
        order,
        fc.integer({ min: 4, max: 12 }),
        fc.constantFrom("everything" as const, "total" as const, "more" as const, "nothing" as const),
        fc.array(fc.array(event, { maxLength: 3 }), { maxLength: 40 }),
        fc.boolean(),
        async (count, how, cap, says, events, asksForMore) => {
          const sorted = ids(count);
          const rows =
            how === "ascending"
              ? sorted.toReversed()
              : how === "descending"
                ? sorted
                : sorted.sort((a, b) => ((a * 7919) % 61) - ((b * 7919) % 61));
          const host = setUp({ cap, says }, rows, events);
          const lists = new HostLists();
          lists.first = 1;
          try {
            const { ids: found, reading } = await host.read(lists, asksForMore ? cap + 5 : cap);
            expect(reading?.isWhole).toBe(true);
            // Two equal readings of pages do not prove completeness, because an item can move twice and stay unread.
            if (lists.hasWindows === true || host.asked.length === 1) {
              expect([...host.stayed].filter((id) => !found.has(id))).toEqual([]);
              seen.whole += 1;
              if (events.flat().length > 0) seen.moved += 1;
            }
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            expect(error.diagnostics[0]).toMatchObject({
              code: "api.pagination",
              summary: expect.stringContaining("changes while it is read"),
            });
            seen.refused += 1;
          }
        },
      ),
      { numRuns: runs(1_500) },
    );
    expect(seen.moved).toBeGreaterThan(runs(200));
  });
});

describe("a list for display that changes during the read", () => {
  const event = fc.record({
    does: fc.constantFrom("insert" as const, "delete" as const, "delete" as const),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });

  it("is read again; it fails only if it changes each time, and no message asks for a report to the host", async () => {
    const seen = { again: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 4, max: 12 }),
        fc.constantFrom("everything" as const, "total" as const, "more" as const, "nothing" as const),
        fc.array(fc.array(event, { maxLength: 6 }), { maxLength: 40 }),
        async (count, cap, says, events) => {
          const host = setUp({ cap, says }, ids(count), events);
          const lists = new HostLists();
          lists.first = 1;
          try {
            await host.read(lists, cap, false);
            if (host.asked.filter((one) => one === host.asked[0]).length > 1) seen.again += 1;
          } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            const [diagnostic] = error.diagnostics;
            expect(diagnostic?.summary).toContain("changes while it is read");
            expect(JSON.stringify(diagnostic)).not.toContain("Report it");
            seen.refused += 1;
          }
        },
      ),
      { numRuns: runs(1_000) },
    );
    expect(seen.again).toBeGreaterThan(runs(20));
  });

  it.each([
    ["is refused, because its rows are gone", [[2, 1], "404", [1, 1]]],
    ["is empty, and says that there is more", [[2, 1], "empty", [1, 1]]],
  ] as const)("is read again if the page after the first %s", async (_, answers) => {
    const asked: number[] = [];
    const listing = createListing({
      endpoint: "listServices",
      host: Object.assign(new HostLists(), { first: 1 }),
      maxPages: 9,
      pageSize: 100,
      fetchPage: async (page) => {
        const answer = answers[asked.push(page) - 1] ?? fail("internal", "too many requests");
        if (answer === "empty") return { json: { data: [], has_more: true } };
        if (answer !== "404")
          return { json: { data: ids(100).map((id) => ({ id })), meta: { current_page: page, last_page: answer[0] } } };
        const summary = "There is no such page.";
        const refused = { code: "api.not_found", summary, serverMessage: summary, status: 404 } as const;
        throw new FailedAttempt("listServices", { ...refused, reached: "answered" });
      },
    });
    expect(await listing.all()).toHaveLength(100);
    expect(asked.at(-1)).toBe(1);
  });
});

describe("a known case: a row leaves page 1, another row is appended before page 2, and the total stays the same", () => {
  const events = [[], [{ does: "delete", at: 0.1 } as const, { does: "insert", at: 0.9999 } as const]];
  it.each([
    ["has overlapping windows", {}],
    ["chooses the page size", { ignores: true }],
    ["states nothing but the rows", { says: "nothing" as const }],
    ["states a total alone", { says: "total" as const }],
    ["caps pages at 25", { cap: 25 }],
    ["caps pages at 50 and states nothing", { cap: 50, says: "nothing" as const }],
  ])("misses no row of a host that %s", async (_, host) => {
    const { stayed, read } = setUp(host, ids(130), events);
    const { ids: found } = await read();
    expect([...stayed].filter((id) => !found.has(id))).toEqual([]);
  });
});

describe("the cost of a complete list", () => {
  it.each([
    [0, 1],
    [100, 1],
    [101, 2],
    [198, 2],
    [199, 3],
    [300, 4],
    [1_000, 11],
    [5_000, 57],
  ])("%i rows: %i requests", async (count, requests) => {
    const { asked, read } = setUp({}, ids(count));
    expect((await read()).ids.size).toBe(count);
    expect(asked).toHaveLength(requests);
  });

  it("two reads if the host chooses the page size, and one request that detects it", async () => {
    const { asked, read } = setUp({ ignores: true, cap: 25 }, ids(60));
    const lists = new HostLists();
    await read(lists);
    expect(asked).toHaveLength(2 + 3 + 3);
    asked.length = 0;
    await read(lists);
    expect(asked).toHaveLength(3 + 3);
  });
});

describe("a host without page information", () => {
  /** Returns the request count of reading services, then 40 lists of grants, with one client. */
  const cost = async (cap: number, services: number, grants: number) => {
    const lists = new HostLists();
    lists.first = 1;
    const requests: number[] = [];
    for (const [endpoint, count] of [
      ["listServices", services] as const,
      ...Array.from({ length: 40 }, () => ["listGrants", grants] as const),
    ]) {
      let asked = 0;
      const fetchPage = async (page: number, size: number) => {
        asked += 1;
        const most = Math.min(cap, size);
        const rows = ids(count).slice((page - 1) * most, page * most);
        return { json: { data: rows.map((id) => ({ id, email: `${id}@a.example` })) } };
      };
      const found = await createListing({ endpoint, host: lists, maxPages: 99, pageSize: 100, fetchPage }).all();
      expect(found).toHaveLength(count);
      requests.push(asked);
    }
    return requests.slice(1).reduce((sum, asked) => sum + asked, 0);
  };

  it.each([
    ["one request for each list of grants, once a longer page was seen", 100, 40, 3, 40],
    ["the same where pages are capped at 25", 25, 60, 3, 40],
    ["the same where pages are capped at 50", 50, 60, 24, 40],
    ["two for each page that is as long as the cap", 25, 60, 25, 80],
    ["two for each page of 25 rows and more, which may be the host's page of grants", 100, 40, 26, 80],
    ["two for each page where no longer one was seen", 100, 2, 3, 80],
  ])("costs %s (cap %i, %i services, %i grants)", async (_, cap, services, grants, requests) => {
    expect(await cost(cap, services, grants)).toBe(requests);
  });
});

describe("a host that ignores the page number", () => {
  /** Returns a function that reads the list. With `whole`, the list must be complete; otherwise the list is for display. */
  function reading(
    answer: (page: number, perPage: number) => readonly number[],
    whole: boolean,
    lists = new HostLists(),
  ) {
    const asked: string[] = [];
    const fetchPage = async (page: number, perPage: number) => {
      asked.push(`${page}/${perPage}`);
      return { json: { data: answer(page, perPage).map((id) => ({ id })) } };
    };
    const options = { endpoint: "listServices", host: lists, maxPages: 200, pageSize: 100, fetchPage } as const;
    return { asked, all: () => createListing({ ...options, whole, onRead: () => undefined }).all() };
  }

  it.each([
    [10, true],
    [10, false],
    [25, true],
    [25, false],
    [50, true],
    [100, true],
    [100, false],
  ])("and returns the first %i rows fails (whole: %s)", async (rows, whole) => {
    const error = await failureOf(reading(() => ids(rows), whole).all());
    expect(error).toMatchObject({ diagnostics: [{ code: "api.pagination" }] });
  });

  it.each([true, false])("and repeats its last page is read, with one more request (whole: %s)", async (whole) => {
    const all = ids(30);
    // The host returns the last page for every page number beyond it.
    const { asked, all: read } = reading((page, size) => {
      const pages = Math.ceil(all.length / size);
      const begin = (Math.min(page, pages) - 1) * size;
      return all.slice(begin, begin + size);
    }, whole);
    expect((await read()).map(({ id }) => Number(id))).toEqual(all);
    // A complete list is read in overlapping windows, which also detect the end of the list.
    expect(asked.filter((one) => one === "2/1")).toHaveLength(whole ? 0 : 1);
  });
});
