import { fail } from "../../../core/model/index.ts";
import { escapeText, plural, renderTable } from "../../../report/index.ts";
import { type Invocation, printJson, say } from "../../io.ts";
import { serviceTarget } from "../../service-target.ts";
import { askControl, type ControlFlags, type Delivery, deliveriesIn } from "./control.ts";

export interface TriggerFlags extends ControlFlags {
  readonly service?: string;
  readonly invoice?: string;
  readonly webhook?: string;
}

/** How often, and how far apart (milliseconds), it is looked whether a delivery was attempted. */
const [LOOKS, LOOK_MS] = [200, 50];

/** `hostform webhooks trigger EVENT`: has a sandbox send an event now, whether or not it has happened. */
export async function runTrigger(invocation: Invocation, flags: TriggerFlags, event: string): Promise<number> {
  const { invoice, webhook } = flags;
  const service =
    flags.service === undefined ? undefined : (await serviceTarget(invocation, flags.service, undefined)).id;
  const body = {
    event,
    ...(service !== undefined && { service_id: idOf("the id of a service", service) }),
    ...(invoice !== undefined && { invoice_id: idOf("the id of an invoice", invoice) }),
    ...(webhook !== undefined && { webhook_id: idOf("the id of a webhook", webhook) }),
  };
  const sent = deliveriesIn(await askControl(invocation, flags, { method: "POST", path: "/events/trigger", body }));
  print(invocation, await attempted(invocation, flags, sent), "Nothing was sent.");
  return 0;
}

/** `hostform webhooks deliveries [ID]`: what a sandbox has sent, newest first, or one delivery with every attempt. */
export async function runDeliveries(invocation: Invocation, flags: ControlFlags, id?: string): Promise<number> {
  if (id === undefined) {
    const all = deliveriesIn(await askControl(invocation, flags, { method: "GET", path: "/deliveries" }));
    print(
      invocation,
      all.toSorted((a, b) => b.id - a.id),
      "Nothing was sent yet.",
    );
    return 0;
  }
  const path = `/deliveries/${idOf("the id of a delivery", id)}`;
  const [delivery] = deliveriesIn(await askControl(invocation, flags, { method: "GET", path }));
  if (delivery === undefined) return 0;
  if (invocation.options.json) printJson(invocation, [delivery]);
  else invocation.io.out(inFull(invocation, delivery));
  return 0;
}

/** `hostform webhooks replay ID`: has a sandbox send a delivery again, the same bytes, as one of its own. */
export async function runReplay(invocation: Invocation, flags: ControlFlags, id: string): Promise<number> {
  const path = `/deliveries/${idOf("the id of a delivery", id)}/replay`;
  const sent = deliveriesIn(await askControl(invocation, flags, { method: "POST", path }));
  print(invocation, await attempted(invocation, flags, sent), "Nothing was sent.");
  return 0;
}

/** The same deliveries once each was attempted, so that what came back can be shown; as they are after a while. */
async function attempted(
  invocation: Invocation,
  flags: ControlFlags,
  sent: readonly Delivery[],
): Promise<readonly Delivery[]> {
  let now = sent;
  for (let look = 0; look < LOOKS && now.some(({ attempts }) => attempts.length === 0); look++) {
    await invocation.io.clock.sleep(LOOK_MS);
    now = await Promise.all(
      now.map(async (one) => {
        if (one.attempts.length > 0) return one;
        const path = `/deliveries/${one.id}`;
        return deliveriesIn(await askControl(invocation, flags, { method: "GET", path }))[0] ?? one;
      }),
    );
  }
  return now;
}

function print(invocation: Invocation, deliveries: readonly Delivery[], empty: string): void {
  if (invocation.options.json) {
    printJson(invocation, deliveries);
    return;
  }
  const columns = [
    { header: "ID", cell: ({ id }: Delivery) => id, whole: true, align: "left" as const },
    { header: "EVENT", cell: ({ event }: Delivery) => event },
    { header: "WEBHOOK", cell: ({ webhook_id }: Delivery) => webhook_id, whole: true, align: "left" as const },
    { header: "TO", cell: ({ url }: Delivery) => url, spare: true },
    { header: "STATUS", cell: ({ status }: Delivery) => status },
    { header: "ATTEMPTS", cell: ({ attempts }: Delivery) => attempts.length },
    { header: "LAST ANSWER", cell: (one: Delivery) => answerOf(one.attempts.at(-1)) },
  ];
  invocation.io.out(renderTable(deliveries, columns, { ...invocation.outLook, empty }));
  const pending = deliveries.filter(({ status, attempts }) => status === "pending" && attempts.length > 0).length;
  if (pending > 0) say(invocation, `${plural(pending, "delivery", "deliveries")} will be tried again.`);
}

const answerOf = (attempt: Delivery["attempts"][number] | undefined) => attempt?.status ?? attempt?.error ?? null;

function inFull({ outLook }: Invocation, { attempts, body, ...delivery }: Delivery): string {
  const fields = Object.entries(delivery).filter(([, value]) => value !== null);
  const table = renderTable(
    fields,
    [
      { header: "FIELD", cell: ([name]) => name },
      { header: "VALUE", cell: ([, value]) => String(value), align: "left" },
    ],
    { ...outLook, empty: "" },
  );
  const tries = renderTable(
    attempts,
    [
      { header: "ATTEMPT", cell: ({ at }) => at },
      { header: "ANSWER", cell: ({ status }) => status, align: "left" },
      { header: "ERROR", cell: ({ error }) => error },
    ],
    { ...outLook, empty: "It was not tried yet." },
  );
  return `${table}\n${tries}${body === undefined ? "" : `\n${escapeText(body)}\n`}`;
}

/** An id of the sandbox, which are numbers. */
function idOf(what: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return fail("usage", `${JSON.stringify(text)} cannot be ${what}`, {
    fix: "Ids of the sandbox are numbers; `hostform services`, `invoices`, `webhooks` and `webhooks deliveries` show them.",
  });
}
