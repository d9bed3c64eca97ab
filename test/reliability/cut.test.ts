/**
 * Cuts one POST exchange between the real client and the sandbox after each of its bytes, in either direction. If the
 * connection is cut once, the same run recovers. If it is cut each time, that run gives up, and the next undisturbed
 * run settles the create. Both ways end with one object, whose id and secret are known, and with no open step.
 * `npm test` takes a sample of the bytes and both ends, `npm run test:long` all bytes.
 */
import { describe, expect, it } from "vitest";
import { announce, LONG } from "./support/long.ts";
import { type Place, startPlace } from "./support/place.ts";
import type { Cut, Sizes } from "./support/severing-proxy.ts";

const STRIDE = LONG ? 1 : 199;

const SUBJECTS = [
  {
    what: "the order of a server, which only its key distinguishes from another",
    exchange: "POST /api/v1/services HTTP",
    address: "hosting_service.box",
    nameless: true,
    declare: { project: "cut", services: { box: { plan_id: 31, currency: "USD" } } },
    made: ({ control }: Place) =>
      control.list("services").flatMap(({ customer_id, id }) => (customer_id === 1 ? [{ id: String(id) }] : [])),
  },
  {
    what: "the registration of a webhook, whose secret is shown once",
    exchange: "POST /api/v1/webhooks HTTP",
    address: "hosting_webhook.billing",
    nameless: false,
    declare: {
      project: "cut",
      webhooks: { billing: { url: "https://hooks.acme.example/", events: ["invoice.paid"] } },
    },
    made: ({ control }: Place) => control.list("webhooks").map(({ id, secret }) => ({ id: String(id), secret })),
  },
] as const;

type Subject = (typeof SUBJECTS)[number];

/** Returns the number of bytes of an undisturbed exchange. */
async function measure({ declare, exchange }: Subject): Promise<Sizes> {
  const place = await startPlace(declare, { proxied: true });
  try {
    await place.apply();
    const sizes = place.proxy.takeSizes().get(exchange);
    if (sizes === undefined) throw new Error(`no ${exchange} was seen`);
    return sizes;
  } finally {
    await place.close();
  }
}

async function sever({ declare, address, made, nameless }: Subject, cut: Cut): Promise<void> {
  const place = await startPlace(declare, { proxied: true });
  try {
    place.proxy.sever(cut);
    await place.run("apply", "--auto-approve");
    expect(place.proxy.severed, "exchanges severed").toBeGreaterThan(0);
    place.proxy.sever(undefined);
    const objects = made(place);
    const again = await place.run("apply", "--auto-approve");
    // The user settles a server that may exist, because nothing distinguishes the server from others.
    const asks = nameless && objects.length > 0 && again.code === 1;
    if (asks) {
      expect(again.text).toContain("plan.pending");
      expect((await place.run("resolve", address, "--adopt", objects[0]?.id ?? "")).code).toBe(0);
      await place.apply();
    } else expect(again.code, again.text).toBe(0);
    objects.splice(0, objects.length, ...made(place));
    expect(objects, "what was made").toHaveLength(1);
    const recorded = await place.recorded(address);
    expect(recorded?.attributes).toMatchObject(objects[0] ?? {});
    expect(recorded?.private).toEqual({});
    await place.expectNoChanges();
  } finally {
    await place.close();
  }
}

const cutsOf = (exchange: string, sizes: Sizes, times: number): Cut[] =>
  (["request", "response"] as const).flatMap((direction) =>
    Array.from({ length: sizes[direction] + 1 }, (_, bytes) => bytes)
      .filter((bytes) => bytes % STRIDE === 0 || bytes >= sizes[direction] - 1)
      .map((bytes) => ({ exchange, direction, bytes, times })),
  );

describe.each(SUBJECTS)("$what", { timeout: 3_600_000 }, (subject) => {
  it.each([
    ["once", 1],
    ["each time in a run", Number.POSITIVE_INFINITY],
  ] as const)("severed %s after any byte is made once", async (how, times) => {
    const sizes = await measure(subject);
    const cuts = cutsOf(subject.exchange, sizes, times);
    const failures: string[] = [];
    for (const cut of cuts) {
      await sever(subject, cut).catch((error: unknown) => {
        failures.push(`${cut.direction} byte ${cut.bytes}: ${error instanceof Error ? error.message : error}`);
      });
    }
    const all = sizes.request + sizes.response + 2;
    announce(`Cut ${subject.exchange}, ${how}: ${cuts.length} of ${all} places, ${failures.length} failures`);
    expect(failures).toEqual([]);
  });
});
