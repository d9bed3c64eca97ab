import { describe, expect, it } from "vitest";
import type { Mutation, MutationName, Writer } from "../../../../../src/core/api/index.ts";
import { ApiError, type Reached } from "../../../../../src/core/model/index.ts";
import { stoppable } from "../../../../../src/fronts/terraform/resource/apply-context.ts";
import { freeTicket } from "../../../../support/subjects.ts";

const refusing = (reached: Reached): Writer => ({
  reserve: async () => freeTicket(),
  request: async ({ endpoint }) => {
    throw new ApiError({ code: "api.too_late", summary: "The client's words", endpoint, reached });
  },
});
const order: Mutation<MutationName> = { endpoint: "createService", body: {}, idempotencyKey: "key-1" };
const suspend: Mutation<MutationName> = { endpoint: "suspendService", params: { service: "7" } };

describe("a request that came too late for its turn", () => {
  it.each<[string, Mutation<MutationName>, Reached, RegExp]>([
    ["names the timeout where nothing was sent", order, "no", /^`timeouts\.create` ran out/],
    ["names it for what has no key, also after an attempt", suspend, "maybe", /^`timeouts\.create` ran out/],
    [
      "blames no timeout where the key had grown old: a longer one would not help",
      order,
      "maybe",
      /^The client's words/,
    ],
  ])("%s", async (_, mutation, reached, summary) => {
    const writer = stoppable(refusing(reached), new AbortController().signal, {
      until: () => 1,
      name: "timeouts.create",
    });
    const error = await writer.request(mutation).catch((failure: unknown) => failure);
    expect(error).toMatchObject({ reached, diagnostics: [{ summary: expect.stringMatching(summary) }] });
  });
});
