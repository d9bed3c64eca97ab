import type { ProviderFunction } from "../contract.ts";
import { webhookSignature } from "./webhook-signature.ts";

/** `provider::hosting::…`, by name. */
export const functions: readonly ProviderFunction[] = [webhookSignature];
