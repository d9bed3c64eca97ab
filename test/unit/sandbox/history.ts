/** Random histories of a sandbox, through its API and its control. */
import fc from "../../support/fc.ts";
import { ORDER, type Running } from "./harness.ts";

/** Possible steps of a history. A step may be rejected. */
const STEPS: readonly ((running: Running, n: number) => unknown)[] = [
  ({ send }, n) => send("POST", "/services", { key: `k${n % 4}`, body: { ...ORDER, domain: `d${n}.example` } }),
  ({ send }, n) => send("POST", `/services/${1001 + (n % 5)}/suspend`),
  ({ send }, n) =>
    send("POST", `/services/${1001 + (n % 5)}/grants`, { body: { email: `p${n}@x.example`, permission: "view" } }),
  ({ send }) => send("GET", "/plans"),
  ({ send, sandbox }, n) =>
    send("GET", "/services", { token: n % 2 ? sandbox.tokens.agency : sandbox.tokens.customer }),
  ({ send, sandbox }, n) => send("GET", `/services/${1001 + (n % 2)}`, { token: sandbox.tokens.customer }),
  ({ send, sandbox }, n) => send("POST", `/services/${1001 + (n % 2)}/suspend`, { token: sandbox.tokens.customer }),
  ({ send }) =>
    send("POST", "/webhooks", { body: { url: "http://127.0.0.1:9/", events: ["invoice.paid", "invoice.created"] } }),
  ({ send, sandbox }) => send("GET", "/invoices", { token: sandbox.tokens.customer }),
  ({ sandbox }, n) => sandbox.control.payInvoice(5001 + (n % 8)),
  ({ sandbox }, n) => sandbox.control.advanceClock({ days: n % 3 ? 0 : n % 40, seconds: 1 + (n % 12) }),
  ({ sandbox }) => sandbox.control.freezeClock(),
  ({ sandbox }) => sandbox.control.resumeClock(),
  ({ sandbox }, n) =>
    sandbox.control.addFault({ path: "/*", phase: "after", status: 502, probability: (n % 10) / 10, times: 3 }),
  ({ sandbox }, n) => sandbox.control.remove("services", 1001 + (n % 5)),
  ({ sandbox }, n) => sandbox.control.offerTransfer(1001 + (n % 5), { to: "customer" }),
  ({ sandbox }, n) => sandbox.control.create("tokens", { name: `t${n}`, abilities: ["view"] }),
];

/** Sequence of steps, as the step's index and a number. */
export const history = fc.array(fc.tuple(fc.nat(STEPS.length - 1), fc.nat(99)), {
  minLength: 4,
  maxLength: 40,
  size: "max",
});

/** Runs a history. Returns the final snapshot of the sandbox. */
export async function live(running: Running, steps: readonly (readonly [number, number])[]): Promise<string> {
  for (const [which, n] of steps) {
    try {
      await STEPS[which]?.(running, n);
    } catch {
      // Some steps fail, for example the payment of an invoice that does not exist.
    }
  }
  await running.sandbox.control.settled();
  return running.sandbox.control.snapshot();
}
