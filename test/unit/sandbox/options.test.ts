import { expect, test } from "vitest";
import { SandboxOptionError, type SandboxOptions } from "../../../src/sandbox/index.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { start } from "./harness.ts";

test.each<[string, object]>([
  ["rateLimit must be a whole number from 0 to 1000000, not 1e+300.", { rateLimit: 1e300 }],
  ["noticeDays must be a whole number from 0 to 36525, not -1.", { noticeDays: -1 }],
  ["jobSeconds must be a whole number from 0 to 3155760000, not NaN.", { jobSeconds: Number.NaN }],
  ["provisioningSeconds must be", { provisioningSeconds: 9e15 }],
  ["idempotencyRetentionSeconds must be", { idempotencyRetentionSeconds: 1.5 }],
  ["processingMs must be", { processingMs: 2 ** 31 }],
  ["port must be a whole number from 0 to 65535, not 99999.", { port: 99_999 }],
  ["controlPort must be", { controlPort: -1 }],
  ["seed must be a text, not 5.", { seed: 5 }],
  ["data must be the path of a file", { data: "" }],
  ["clock must be an instant such as", { clock: 5 }],
  ["clock must be an instant such as", { clock: { now: 5 } }],
  ["clock must be an instant such as", { clock: "2026-13-01T00:00:00Z" }],
  ["A profile is a text such as", { profile: null }],
  ["A profile is a text such as", { profile: { ids: 5 } }],
  ["deliverTo must be a text, or a list of hosts, not [5].", { deliverTo: [5] }],
  ["deliverTo must be", { deliverTo: null }],
  ["snapshot must be a text", { snapshot: {} }],
  ["autoPay must be true or false", { autoPay: "yes" }],
  ['no option "rateLimt". Did you mean "rateLimit"?', { rateLimt: 5 }],
  ["The options are port, controlPort,", { colour: "red" }],
])("%s", async (sentence, options) => {
  const starting = startSandbox(options as SandboxOptions);
  await expect(starting).rejects.toThrow(SandboxOptionError);
  await expect(starting).rejects.toThrow(sentence);
});

test("an undefined option equals an omitted option", async () => {
  const nothing = { seed: undefined, rateLimit: undefined, profile: undefined, clock: undefined, deliverTo: undefined };
  const { sandbox } = await start(nothing as unknown as SandboxOptions);
  expect(sandbox.control.state().profile.envelope).toBe("laravel");
});
