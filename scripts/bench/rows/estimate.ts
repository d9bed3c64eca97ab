// What a plan says of the requests and the time of its apply, beside what happens.
import { type Account, declare, newServices, sameServices } from "../account.ts";
import type { HostOptions } from "../host.ts";
import type { Figure, Row } from "../row.ts";
import { declareGrants, within, withSuspended } from "./requests.ts";

/** How much faster time passes where a case waits for its budget. */
const RATE = 5;
/** So few requests or seconds are no difference. */
const NOTHING = 2;

interface Case {
  readonly name: string;
  readonly about: string;
  readonly quick?: true;
  readonly services: number;
  /** Needs no more than the budget of a minute: in real time, in which lists stay fresh as long as they do for a user. */
  readonly isShort?: true;
  /** What the host allows; default 60. */
  readonly perMinute?: number;
  /** What happens on the machine shortly before. */
  readonly before?: (account: Account) => Promise<void>;
  readonly declared: (account: Account) => Parameters<typeof declare>[1];
}

const ordering = (count: number) => (account: Account) => ({
  services: [...sameServices(account), ...newServices(count)],
});
const suspending = (count: number) => (account: Account) => ({ services: withSuspended(account, count) });

/** Reads the grants of all services, in another project: as many requests as services, and one for each page. */
async function readGrants(account: Account): Promise<void> {
  await declareGrants(account, "one", 60);
  await account.hostform(["plan", "--quiet"]);
}

const CASES: readonly Case[] = [
  {
    name: "order",
    about: "one order in an account of 1,000",
    quick: true,
    isShort: true,
    services: 1_000,
    declared: ordering(1),
  },
  { name: "orders", about: "100 orders", services: 1, declared: ordering(100) },
  {
    name: "suspend-5",
    about: "5 suspensions in an account of 1,000",
    quick: true,
    isShort: true,
    services: 1_000,
    declared: suspending(5),
  },
  { name: "suspend-300", about: "300 suspensions", services: 300, declared: suspending(300) },
  {
    name: "sites",
    about: "20 sites with two grants each and a webhook, in an account of 300",
    services: 300,
    declared: (account) => ({
      services: [...sameServices(account), ...newServices(20, ["ana@bench.example", "dev@bench.example"])],
      more: ["webhooks:", "  crm:", "    url: https://crm.bench.example/hook", "    events: [invoice.paid]"],
    }),
  },
  {
    name: "booked",
    about: "30 orders after another process has sent 40 of the minute's 60 requests",
    services: 39,
    before: readGrants,
    declared: ordering(30),
  },
  {
    name: "limit-30",
    about: "60 orders, at a host that has refused more than 30 a minute",
    services: 60,
    perMinute: 30,
    before: readGrants,
    declared: ordering(60),
  },
];

interface Summary {
  readonly type: string;
  readonly "@timestamp": string;
  readonly changes?: { readonly operation: string };
  readonly hostform?: { readonly requests?: unknown };
}

/** The messages of `apply --json` that end its plan and the whole. */
function summaries(stdout: string): readonly Summary[] {
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Summary).filter(({ type }) => type === "change_summary");
}

/** How far one is from the other, as a share of what happened. */
const distance = (estimate: number, happened: number): number =>
  Math.abs(estimate - happened) <= NOTHING ? 0 : (100 * Math.abs(estimate - happened)) / Math.max(happened, 1);

async function compare(account: Account, { before, declared }: Case): Promise<Figure[]> {
  await before?.(account);
  await declare(account.folder, { perMinute: 60, ...declared(account) });
  account.host.entries = [];
  const { stdout } = await account.hostform(["apply", "--auto-approve", "--json"]);
  const [plan, end] = summaries(stdout);
  const estimate = plan?.hostform?.requests as { read: number; apply: number; seconds: number } | undefined;
  if (plan === undefined || end === undefined || estimate === undefined) throw new Error("apply gave no summaries");
  const planned = Date.parse(plan["@timestamp"]);
  const requests = account.host.entries.filter(({ at, status }) => at >= planned && status !== 429).length;
  const seconds = (Date.parse(end["@timestamp"]) - planned) / 1000;
  const figure = (what: string, said: number, happened: number): Figure => ({
    what,
    value: distance(said, happened),
    unit: "%",
    note: `${Math.round(said)} estimated, ${Math.round(happened)} happened`,
  });
  return [figure("requests", estimate.apply, requests), figure("seconds", estimate.seconds, seconds)];
}

export const estimateRows: readonly Row[] = CASES.map((one) => ({
  name: `estimate-${one.name}`,
  about: `estimate beside what happens: ${one.about}`,
  ...(one.quick && { quick: true }),
  shares: true,
  goals: { requests: { most: 10, unit: "%" }, seconds: { most: 10, unit: "%" } },
  measure: (bench) => {
    const limit: HostOptions["limit"] = {
      counter: "sliding log",
      perMinute: one.perMinute ?? 60,
      hints: "retry-after",
    };
    const options = { services: one.services, rate: one.isShort ? 1 : RATE, host: { limit } };
    return within(bench, options, (account) => compare(account, one));
  },
}));
