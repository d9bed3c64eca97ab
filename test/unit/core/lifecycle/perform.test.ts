// One request of a change: the durable records, and the knowledge of other processes, at each point of a possible crash.
import { describe, expect, it } from "vitest";
import type { CallOptions, Mutation, Ticket } from "../../../../src/core/api/index.ts";
import { Fate } from "../../../../src/core/lifecycle/context.ts";
import { type CreateTurn, perform } from "../../../../src/core/lifecycle/perform.ts";
import { HostformError } from "../../../../src/core/model/index.ts";
import { fakeRun } from "../../../support/changes.ts";
import { failure, fakeAccount, freeTicket, kindOf } from "../../../support/subjects.ts";

const MUTATION: Mutation = { endpoint: "createWebhook", body: {} };

interface Case {
  readonly answer?: () => unknown;
  /** Event at which the run stops. */
  readonly stopAt?: string;
  readonly isCrowded?: boolean;
  readonly isUnwritable?: boolean;
  readonly given?: boolean;
}

async function run({ answer = () => "made", stopAt, isCrowded, isUnwritable, given }: Case = {}) {
  const events: string[] = [];
  const stop = new AbortController();
  const happens = (event: string) => {
    events.push(event);
    if (event === stopAt) stop.abort();
  };
  const ticket: Ticket = { ...freeTicket(), isOpen: true, release: () => happens("released") } as never;
  const { account } = fakeAccount(kindOf("hosting_webhook"));
  const writer = {
    reserve: async (_: unknown, { withinMs }: { readonly withinMs?: number | undefined } = {}) => {
      happens(`reserved within ${withinMs}`);
      return isCrowded ? undefined : ticket;
    },
    request: async (_: unknown, options: CallOptions = {}) => {
      expect(options.ticket).toBe(ticket);
      await options.onLeave?.();
      happens("sent");
      return answer() as never;
    },
  };
  const { context } = fakeRun(account, writer, { stop: stop.signal });
  const fate = new Fate();
  const turn: CreateTurn = {
    begin: async () => happens("begun"),
    end: async (outcome) => happens(`ended: ${outcome}`),
  };
  const end = await perform<"createWebhook", string>(
    { ...context, fate },
    {
      mutation: MUTATION as Mutation<"createWebhook">,
      turn,
      ...(given && { ticket }),
      crowded: () => "crowded",
      record: async () => {
        happens("recorded");
        if (isUnwritable) throw new Error("the disk is full");
      },
      answered: async (made) => {
        happens("answer recorded");
        return String(made);
      },
      failed: async (error) => {
        happens("failure recorded");
        throw error;
      },
    },
  ).catch((error: unknown) => (error instanceof HostformError ? error.diagnostics[0]?.code : String(error)));
  return { events, end, fate };
}

const RESERVED = "reserved within 5000";

describe("a request of a change", () => {
  it("waits for the request limit before its record, is sent after it, and its response is recorded first", async () => {
    const { events, end, fate } = await run();
    expect(events).toEqual([RESERVED, "recorded", "begun", "sent", "answer recorded"]);
    expect([end, fate.requests, fate.hasEffect]).toEqual(["made", "answered", true]);
  });

  it("uses the reservation from before its create lock", async () => {
    expect((await run({ given: true })).events[0]).toBe("recorded");
  });

  it("releases its create lock if the request limit has no place within 5 seconds", async () => {
    const { events, end, fate } = await run({ isCrowded: true });
    expect([events, end, fate.requests]).toEqual([[RESERVED], "crowded", "nothing"]);
  });

  it.each<[string, Case, string[]]>([["waits for the request limit", { stopAt: RESERVED }, [RESERVED, "released"]]])(
    "does not leave if the run is stopped while it %s",
    async (_, one, expected) => {
      const { events, fate } = await run(one);
      expect([events, fate.requests]).toEqual([expected, "nothing"]);
    },
  );

  it.each<[string, () => never, string[], Partial<Fate>]>([
    [
      "that did not leave",
      () => {
        throw failure("no");
      },
      ["ended: nothing"],
      { requests: "nothing", hasEffect: false },
    ],
    [
      "that the API refused",
      () => {
        throw failure("answered", 422);
      },
      ["ended: nothing"],
      { requests: "answered", hasEffect: false },
    ],
    [
      "whose answer is lost",
      () => {
        throw failure("maybe");
      },
      [],
      { requests: "open", hasEffect: true },
    ],
  ])("%s: the other processes and the record get the result", async (_, answer, ended, expected) => {
    const { events, fate, end } = await run({ answer });
    expect(events.slice(4)).toEqual(["released", ...ended, "failure recorded"]);
    expect(fate).toMatchObject(expected);
    expect(end).toBe("api.server");
  });
});
