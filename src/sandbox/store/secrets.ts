/** Secrets that look random and follow from the seed, so that a run can be repeated exactly. */
import { createHmac } from "node:crypto";
import type { Store } from "./store.ts";

/** 64 hexadecimal digits that depend on the seed and the label only. */
export function derive(seed: string, label: string): string {
  return createHmac("sha256", seed).update(label).digest("hex");
}

/** A signing secret for a webhook (inside a transaction). */
export function webhookSecret(world: { store: Store; settings: { seed: string } }): string {
  return `whsec_${nextSecret(world.store, world.settings.seed, "webhook").slice(0, 40)}`;
}

/** The next secret of a kind (inside a transaction): never the same twice in one life of the data. */
export function nextSecret(store: Store, seed: string, kind: string): string {
  return derive(seed, `${kind}:${store.next(`secret:${kind}`)}`);
}
