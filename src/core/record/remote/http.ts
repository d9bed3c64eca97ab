import type { StatePlace } from "../opening.ts";
import { HttpStateLock } from "./http-lock.ts";
import type { HttpHold, HttpPlaceOptions } from "./http-options.ts";
import { HttpStateText } from "./http-text.ts";
import { HttpWire } from "./http-wire.ts";

/** A state at a server that speaks the protocol of Terraform's `http` backend: GitLab, and many others. */
export function createHttpPlace(options: HttpPlaceOptions): StatePlace {
  const wire = new HttpWire(options);
  const hold: HttpHold = { id: undefined, lost: undefined };
  return { text: new HttpStateText(options, wire, hold), lock: new HttpStateLock(options, wire, hold) };
}
