// Hosts that count the minute in their own way: how long a plan takes beside the least possible, and what the host refuses.

import { cp } from "node:fs/promises";
import path from "node:path";
import type { COUNTERS } from "../../../test/support/limited-hosts.ts";
import { declare, sameServices } from "../account.ts";
import type { HostOptions } from "../host.ts";
import type { Figure, Row } from "../row.ts";
import { declareGrants, within } from "./requests.ts";

/** How much faster time passes. */
const RATE = 8;
/** A list of three pages, and the grants of each: 300 requests. */
const SERVICES = 297;

const refusedShare = (refused: number, sent: number, what = "refused"): Figure => ({
  what,
  value: (100 * refused) / sent,
  unit: "%",
  note: `${refused} of ${sent}`,
});

const counted = (name: string, counter: keyof typeof COUNTERS, isQuick: boolean): Row => ({
  name,
  about: `${counter}, 60 a minute: \`plan\` of 300 requests`,
  ...(isQuick && { quick: true }),
  shares: true,
  goals: { time: { most: 1.1, unit: "×" }, refused: { most: 3, unit: "refused" } },
  measure: (bench) =>
    within(
      bench,
      { services: SERVICES, rate: RATE, host: { limit: { counter, perMinute: 60, hints: "retry-after" } } },
      async (account) => {
        await declareGrants(account, "one", 60);
        await account.hostform(["plan", "--quiet"]);
        const { host } = account;
        return [
          {
            what: "time",
            value: host.wallMs() / 60_000,
            unit: "min",
            ratio: { value: host.wallMs() / host.boundMs(), to: "the least possible" },
          },
          { what: "refused", value: host.refused(), unit: "refused" },
        ];
      },
    ),
});

/** Four processes that know nothing of each other, each with a quarter of the requests. */
const apart = (counter: keyof typeof COUNTERS): Row => ({
  name: `apart-${counter.replace(" ", "-")}`,
  about: `${counter}, 60 a minute: four processes without a common ledger, 404 requests`,
  shares: true,
  goals: { refused: { most: 5, unit: "%" } },
  measure: (bench) => {
    const limit: HostOptions["limit"] = { counter, perMinute: 60, hints: "retry-after" };
    return within(bench, { services: 100, rate: RATE, host: { limit } }, async (account) => {
      await declareGrants(account, "one", 60);
      const folders = ["a", "b", "c", "d"].map((name) => path.join(account.folder, name));
      for (const folder of folders)
        for (const file of ["hosting.yaml", "hosting.tfstate"])
          await cp(path.join(account.folder, file), path.join(folder, file));
      const env = { HOSTFORM_LEDGER: "memory" };
      await Promise.all(folders.map((folder) => account.hostform(["plan", "--quiet"], { folder, env })));
      return [refusedShare(account.host.refused(), account.host.entries.length)];
    });
  },
});

const NAIVE = 300;

/** Reads each service on its own, and waits as long as a refusal says: what a conventional provider does. */
async function oneByOne(url: string, token: string, ids: readonly number[], rate: number): Promise<void> {
  for (const id of ids) {
    for (;;) {
      const answer = await fetch(`${url}/api/v1/services/${id}`, { headers: { authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      if (answer.status === 200) break;
      const seconds = Number(answer.headers.get("retry-after"));
      if (answer.status !== 429 || !(seconds > 0)) throw new Error(`GET of service ${id}: ${answer.status}`);
      await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / rate));
    }
  }
}

export const limitRows: readonly Row[] = [
  counted("burst-10", "token bucket with a burst of 10", true),
  counted("token-bucket", "token bucket", false),
  counted("sliding-counter", "sliding counter", true),
  counted("sliding-log", "sliding log", false),
  counted("fixed-window", "fixed window", false),
  {
    name: "limit-30",
    about: "fixed window of 30 a minute that says nothing of its limit: `plan` of 300 requests",
    shares: true,
    goals: { refused: { most: 5, unit: "%" } },
    measure: (bench) => {
      const limit: HostOptions["limit"] = { counter: "fixed window", perMinute: 30, hints: "none" };
      return within(bench, { services: SERVICES, rate: RATE, host: { limit } }, async (account) => {
        await declareGrants(account, "one", 60);
        await account.hostform(["plan", "--quiet"]);
        return [refusedShare(account.host.refused(), account.host.entries.length)];
      });
    },
  },
  apart("fixed window"),
  apart("token bucket"),
  {
    name: "one-by-one",
    about: `${NAIVE} services at 60 requests a minute: a GET for each, and \`hostform plan\``,
    shares: true,
    async measure(bench) {
      const limit: HostOptions["limit"] = { counter: "fixed window", perMinute: 60, hints: "retry-after" };
      const naive = await within(bench, { services: NAIVE, rate: RATE, host: { limit } }, async (account) => {
        const ids = account.services.map(({ id }) => id);
        await oneByOne(account.host.url, account.sandbox.tokens.agency, ids, RATE);
        return { ms: account.host.wallMs(), requests: account.host.entries.length };
      });
      const ours = await within(bench, { services: NAIVE, host: { limit } }, async (account) => {
        await declare(account.folder, { services: sameServices(account), perMinute: 60 });
        const { wallMs } = await account.hostform(["plan", "--detailed-exitcode"]);
        return { ms: wallMs, requests: account.host.entries.length };
      });
      return [
        { what: "a GET for each", value: naive.ms / 1000, unit: "s", note: `${naive.requests} requests` },
        {
          what: "`hostform plan`",
          value: ours.ms / 1000,
          unit: "s",
          ratio: { value: ours.ms / naive.ms, to: "a GET for each" },
          note: `${ours.requests} requests`,
        },
      ];
    },
  },
];
