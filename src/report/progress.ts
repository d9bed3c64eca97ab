import type { ApplyEvent, Outcome } from "../core/model/index.ts";
import { formatElapsed, plural } from "./duration.ts";
import { escapeLine } from "./escape.ts";
import { WORDS } from "./progress-words.ts";
import { paint as painter } from "./style.ts";

/** Addresses named in a line about several resources. */
const MAX_NAMED = 3;

/** One line for an event of an apply, worded as Terraform words it: `hosting_service.acme: Creating...` */
export function progressLine(event: ApplyEvent, { color }: { readonly color: boolean }): string {
  const paint = painter(color);
  if (event.type === "waiting") {
    return `Still waiting for ${plural(event.addresses.length, "queued job")}: ${nameSome(event.addresses)} [${formatElapsed(event.seconds)} elapsed]`;
  }
  const { start, still, noun } = WORDS[event.action];
  const address = paint.bold(`${escapeLine(event.address)}:`);
  switch (event.type) {
    case "start":
      return `${address} ${start}...${idText(event.id)}`;
    case "progress":
      return `${address} Still ${still}... [${formatElapsed(event.seconds)} elapsed]`;
    case "complete": {
      // Queued is not done (§3).
      const end = event.outcome.awaiting === "job" ? "requested" : "complete";
      if (event.outcome.result === "waiting")
        return `${address} ${paint.warning(`Not possible yet after ${formatElapsed(event.seconds)}`)}; ${waitingText(event.outcome)}`;
      const after = `${noun} ${end} after ${formatElapsed(event.seconds)}${idText(event.id)}`;
      const awaiting = awaitingText(event.outcome);
      return `${address} ${paint.good(after)}${awaiting === undefined ? "" : `; ${awaiting}`}`;
    }
    case "errored": {
      const [cause] = event.outcome.diagnostics;
      if (event.outcome.result === "not-started") return `${address} Not sent, because the run was stopped`;
      const open = event.outcome.unknown ? ": what became of its request is not known" : "";
      const why = cause === undefined ? open : `: ${escapeLine(cause.summary)}`;
      return `${address} ${paint.error(`${noun} errored after ${formatElapsed(event.seconds)}`)}${why}`;
    }
  }
}

function idText(id: string | undefined): string {
  return id === undefined ? "" : ` [id=${escapeLine(id)}]`;
}

/** `a, b, c and 4 more`, escaped. */
export function nameSome(addresses: readonly string[], most = MAX_NAMED): string {
  const more = addresses.length - most;
  if (more <= 0) return addresses.map(escapeLine).join(", ");
  return `${addresses.slice(0, most).map(escapeLine).join(", ")} and ${more} more`;
}

/** Why nothing was done yet: `hosting_grant.a waits until service 1003 is live: its invoice is not paid`. */
export const waitingText = ({ address, diagnostics: [why] }: Outcome): string =>
  escapeLine(why?.summary ?? `${address} waits`);

/** What a change that was made now waits for: `waits for payment of invoice INV-2026-000123` (§3: provisioned once paid). */
export function awaitingText({ awaiting, invoice }: Outcome): string | undefined {
  switch (awaiting) {
    case undefined:
      return undefined;
    case "payment": {
      const name = invoice?.number ?? invoice?.id ?? undefined;
      return name === undefined
        ? "waits for payment of its invoice"
        : `waits for payment of invoice ${escapeLine(name)}`;
    }
    case "provisioning":
      return "waits to be provisioned";
    case "job":
      return "waits for its queued job";
    case "status":
      return "waits: its status is not understood";
  }
}
