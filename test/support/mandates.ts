/** Mandates, receipts and keys for tests. */
import { generateKeyPairSync, hash, type KeyObject } from "node:crypto";
import type { Mandate, Receipt } from "../../src/core/model/index.ts";
import { signMandate } from "../../src/project/mandate/document.ts";
import { publicText } from "../../src/project/mandate/keys.ts";
import { decodeSavedPlan } from "../../src/project/saved-plan.ts";

/** A new private key for Ed25519: the key, its PEM, and the text of its public key. */
export function newKey(): { readonly key: KeyObject; readonly pem: string; readonly trusted: string } {
  const { privateKey: key } = generateKeyPairSync("ed25519");
  const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
  return { key, pem, trusted: publicText(key) };
}

/** Time at which the mandate of a test was issued. It expires two hours later. */
export const ISSUED = Date.parse("2026-12-01T10:00:00.000Z");
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(ISSUED + hours * HOUR_MS).toISOString();

export const mandateOf = (over: Partial<Mandate> = {}): Mandate => ({
  id: "0f1e2d3c",
  project: "acme",
  environment: null,
  accounts: {
    default: { origin: "https://api.example", anchors: [{ type: "hosting_service", id: "1001", created_at: null }] },
  },
  plan: null,
  kinds: ["service"],
  max_orders: 3,
  max_spend: { USD: 5000 },
  max_removals: 0,
  targets: ["client:Müller & Söhne"],
  objects: ["default hosting_service 1001"],
  no_offline: true,
  uses: 2,
  issued: at(0),
  expires: at(2),
  ...over,
});

/** Returns the mandate that an approver signs for the text of a saved plan. */
export function mandateFor(text: string, key: KeyObject, now = Date.now()): string {
  const { origin } = decodeSavedPlan(text, "a plan");
  return signMandate(
    mandateOf({
      accounts: origin.identities ?? {},
      plan: { digest: hash("sha256", text), lineage: origin.lineage, serial: origin.serial },
      kinds: null,
      targets: [],
      objects: null,
      max_removals: null,
      uses: 1,
      issued: new Date(now).toISOString(),
      expires: new Date(now + HOUR_MS).toISOString(),
    }),
    key,
  );
}

export const receiptOf = (over: Partial<Receipt> = {}): Receipt => ({
  mandate: "0f1e2d3c",
  use: 1,
  project: "acme",
  environment: null,
  plan: "a".repeat(64),
  began: at(0),
  ended: at(1),
  complete: true,
  orders: [
    {
      address: "hosting_service.www",
      provider: "default",
      id: "1001",
      currency: "USD",
      amount: 1200,
      invoice: { id: "7", number: "INV-7", total: 1200 },
    },
  ],
  effects: ["www.acme.example is ordered"],
  left: { uses: 1, orders: 2, spend: { USD: 3800 }, removals: null },
  ...over,
});
