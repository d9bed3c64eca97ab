/**
 * Every failure of a request, at every create. A run meets the failure each time that it sends the request. Then the
 * failure ends, and the command runs again: after seconds, after hostform stops trusting the key, and after the server
 * has forgotten the key. No cell creates a second object, and every cell ends with a known object.
 * `npm test` takes every other create of each failure in turn, one of the creates that settle alike, and each cell at
 * one of the three times. `npm run test:long` takes all cells.
 * `UPDATE_DOCS=1 npm test -- test/reliability/error-table.test.ts` writes the outcome of each cell into
 * docs/reliability.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { CREATES, type Create } from "./support/creates.ts";
import { ROWS, type Row } from "./support/faults.ts";
import { announce, LONG, sampled } from "./support/long.ts";
import { type Place, startPlace } from "./support/place.ts";

/** The outcome of a cell. */
type Outcome =
  /** The run that met the failure recovered without help. */
  | "itself"
  /**
   * The object was created and its secret was lost, twice. The run reported the loss and failed, and the next plan was
   * empty.
   */
  | "without"
  /** The run knew that nothing was created. The next run created the object. */
  | "refused"
  /** The next run sent the same request again. An order keeps its key and its bytes. */
  | "again"
  /** The next run found the object and recorded it. */
  | "adopted"
  /** The next run changed nothing until the user settled the create (`hostform resolve`). */
  | "asks";

/**
 * Times of the next run, in milliseconds: seconds, 11 minutes (hostform no longer trusts the key), two days (the
 * server has forgotten it).
 */
const LATER = [5_000, 660_000, 172_800_000] as const;

/** Returns the expected outcome of a cell. */
function expected({ knowledge, processed, holds }: Row, create: Create): Outcome {
  const { creation, secret, nameless } = create;
  if (knowledge === "refused") return "refused";
  if (knowledge === "all") return "itself";
  if (creation === "blind") return knowledge === "empty" ? "itself" : "asks";
  if (secret && processed && knowledge === "empty") return "without";
  // A run deletes an object whose secret was in the lost response. In the end, the run gives up and no object exists.
  if (creation === "listable") return processed && !secret ? "itself" : "again";
  // The list decides, unless objects are indistinguishable.
  if (!processed) return "again";
  if (nameless) return "asks";
  return holds ? "itself" : "adopted";
}

const requestsBefore = new Map<string, Promise<number>>();

/** Returns the number of requests that an undisturbed run sends before the create. */
function countBefore(create: Create): Promise<number> {
  const counted = requestsBefore.get(create.what) ?? goodRun(create);
  requestsBefore.set(create.what, counted);
  return counted;
}

async function goodRun(create: Create): Promise<number> {
  const place = await ready(create);
  await place.apply("--parallelism", "1");
  const requests = place.control.requests();
  await place.close();
  return requests.findIndex(({ method, path: to }) => method === "POST" && to === `/api/v1${create.path}`);
}

async function ready({ base, declare }: Create): Promise<Place> {
  const place = await startPlace(base ?? declare, { proxied: true });
  if (base !== undefined) await place.apply();
  await place.declare(declare);
  place.control.clearRequests();
  return place;
}

async function meet(row: Row, create: Create, later: number): Promise<Outcome> {
  const before = await countBefore(create);
  const place = await ready(create);
  const { address, creation, pattern, path: to } = create;
  const posts = () => place.control.requests().filter((one) => one.method === "POST" && one.path === `/api/v1${to}`);
  const apply = () => place.run("apply", "--auto-approve", "--parallelism", "1");
  const pending = async () => (await place.recorded(address))?.private.pending !== undefined;
  try {
    row.arrange(place, { pattern, exchange: `POST /api/v1${to} HTTP`, before });
    const first = await apply();
    expect(create.made(place).length, "made while it failed").toBeLessThanOrEqual(1);
    if (creation === "blind" && row.knowledge === "unknown") expect(posts().length, "blind requests").toBeLessThan(2);
    const isPending = await pending();
    // A server that omits the secret in both responses never returns it.
    const known = !(create.secret && row.knowledge === "empty");
    expect(first.code, `exit code while it failed: ${first.text}`).toBe(
      isPending || !known || !(await isMade(place, address)) ? 1 : 0,
    );

    place.control.clearFaults();
    place.proxy.sever(undefined);
    await place.proxy.listen();
    place.onDelay = () => undefined;
    place.clock.advance(later);
    const sent = place.control.requests().length;
    const second = await apply();
    const since = place.control
      .requests()
      .slice(sent)
      .filter(({ method }) => method !== "GET");
    const asked = await pending();
    expect(second.code, second.text).toBe(asked ? 1 : 0);
    if (asked) {
      expect(second.text).toContain("plan.pending");
      expect(since, "sent again before anybody was asked").toEqual([]);
      const [id] = create.made(place);
      const answer = id === undefined ? ["--absent"] : ["--adopt", String(id)];
      expect(await place.run("resolve", address, ...answer)).toMatchObject({ code: 0 });
      await place.apply();
    }
    if (!known) expect(first.text).toContain("Error: The API's response has no signing secret");
    await expectOne(place, create, known);
    if (!known && since.length === 0) return "without";
    if (asked) return "asks";
    if (first.code === 0) return "itself";
    if (!isPending) return "refused";
    return since.length > 0 ? "again" : "adopted";
  } finally {
    await place.close();
  }
}

/**
 * True if the state records the object. A refused order has an entry too, with a null id and the generation of its
 * next order.
 */
async function isMade(place: Place, address: string): Promise<boolean> {
  const recorded = await place.recorded(address);
  return recorded !== undefined && !(recorded.attributes.id === null && recorded.private.generation !== undefined);
}

/**
 * Fails unless one object exists, the state knows it, and the plan is empty.
 * @param known a response contained its secret, if it has one.
 */
async function expectOne(place: Place, { address, creation, secret, made }: Create, known: boolean): Promise<void> {
  const ids = made(place);
  expect(ids, "what was made").toHaveLength(1);
  const recorded = await place.recorded(address);
  // A registration whose response had no id is recorded by its domain.
  expect([String(ids[0]), ...(creation === "blind" ? ["shop.example"] : [])]).toContain(recorded?.attributes.id);
  const { generation = 1, ...mark } = recorded?.private ?? {};
  expect(mark, "nothing is open").toEqual({});
  if (secret) expect(recorded?.attributes.secret).toBe(known ? place.control.list("webhooks")[0]?.secret : null);
  const orders = place.control
    .requests()
    .flatMap(({ idempotency_key: key, body }) => (key === null ? [] : [[key, body]]));
  // Each key has one body. A new key follows only an explicit refusal of the API.
  expect(new Set(orders.map((order) => JSON.stringify(order))).size).toBeLessThanOrEqual(generation);
  await place.expectNoChanges();
}

let cells = 0;

/** Listable creates without a secret: the same code settles all of them. */
const ALIKE = CREATES.filter(({ creation, secret }) => creation === "listable" && !secret);
const createsOf = (row: Row) =>
  LONG
    ? CREATES
    : sampled(
        CREATES.filter(
          (one) => !ALIKE.includes(one) || one === ALIKE[Math.floor(ROWS.indexOf(row) / LATER.length) % ALIKE.length],
        ),
        2,
        ROWS.indexOf(row),
      );

describe.each(ROWS)("$what: $why", { timeout: 60_000 }, (row) => {
  it.each(createsOf(row))("$what", async (create) => {
    const turn = ROWS.indexOf(row) + CREATES.indexOf(create);
    for (const later of LONG ? LATER : [LATER[turn % LATER.length] ?? 0]) {
      expect(await meet(row, create, later), `after ${later / 1000} s`).toBe(expected(row, create));
      cells += 1;
    }
  });
});

describe("an empty response", () => {
  it("that comes once loses no secret, because the same run creates the webhook again", async () => {
    const webhook = CREATES.find(({ secret }) => secret);
    if (webhook === undefined) throw new Error("no create returns a secret");
    const place = await ready(webhook);
    try {
      place.control.addFault({ method: "POST", path: webhook.pattern, phase: "after", status: 201, body: "" });
      await place.apply();
      await expectOne(place, webhook, true);
    } finally {
      await place.close();
    }
  });
});

const PAGE = path.resolve(import.meta.dirname, "../../docs/reliability.md");
const [BEGIN, END] = ["<!-- error table: begin -->\n", "<!-- error table: end -->\n"];

/** Returns the table of the page. Failures with the same outcome for each create share a row. */
function table(): string {
  const line = (fields: readonly string[]) => `| ${fields.join(" | ")} |\n`;
  const outcomes = Map.groupBy(ROWS, (row) => CREATES.map((create) => expected(row, create)).join(" | "));
  return [
    line(["failure", ...CREATES.map(({ what }) => what)]),
    line(["---", ...CREATES.map(() => "---")]),
    ...[...outcomes].map(([cells, rows]) => line([rows.map(({ what }) => what).join("; "), cells])),
  ].join("");
}

describe("docs/reliability.md", () => {
  const all = ROWS.length * CREATES.length * LATER.length;
  afterAll(() =>
    announce(
      `Error table: ${cells} of ${all} cells (${ROWS.length} failures, ${CREATES.length} creates, ${LATER.length} times) as expected`,
    ),
  );

  it("shows the table", () => {
    const text = readFileSync(PAGE, "utf8");
    const [before = "", rest = ""] = text.split(BEGIN);
    const [shown = "", after = ""] = rest.split(END);
    expect(text).toContain(`| ${all} of ${all} cells |`);
    if (process.env.UPDATE_DOCS === "1") writeFileSync(PAGE, `${before}${BEGIN}\n${table()}\n${END}${after}`);
    else expect(shown.trim()).toBe(table().trim());
  });
});
