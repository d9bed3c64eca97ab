/** Mandates in the ledgers of several API servers. */
import { expect, it } from "vitest";
import { MemoryStore } from "../../../../src/core/local/memory-store.ts";
import { openLedger } from "../../../../src/project/mandate/ledger.ts";
import { receiptsIn, recordsIn } from "../../../../src/project/mandate/ledgers.ts";
import { testClock } from "../../../support/clock.ts";
import { ISSUED, mandateOf, receiptOf } from "../../../support/mandates.ts";

it.each([
  ["first", [0, 1]],
  ["last", [1, 0]],
] as const)("a mandate that is revoked in all ledgers has its uses, if the %s ledger has them", async (_, order) => {
  const clock = testClock(ISSUED);
  const ledgers = [0, 1].map(() => openLedger(new MemoryStore({ clock, sharing: "machines" }), clock));
  await ledgers[0]?.begin(mandateOf(), null);
  await ledgers[0]?.finish(mandateOf(), receiptOf(), null);
  for (const ledger of ledgers) await ledger.revoke("0f1e2d3c", mandateOf());
  const listed = order.flatMap((at) => ledgers[at] ?? []);
  expect(await recordsIn(listed)).toMatchObject([{ id: "0f1e2d3c", mandate: mandateOf(), uses: [{ use: 1 }] }]);
  const { mandate, use, orders } = receiptOf();
  const began = new Date(ISSUED).toISOString();
  expect(receiptsIn(await recordsIn(listed))).toEqual([
    { mandate, use, began, receipt: receiptOf(), text: null, file: null, orders },
  ]);
});
