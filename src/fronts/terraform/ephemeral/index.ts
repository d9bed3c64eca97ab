import type { EphemeralResource } from "../contract.ts";
import { panelSso } from "./panel-sso.ts";

/** `ephemeral "hosting_…"`. */
export const ephemeralResources: readonly EphemeralResource[] = [panelSso];
