/** Pages of the sandbox itself: clock, faults and settings. */
import { html } from "hono/html";
import type { Span, Upcoming } from "../../control/time.ts";
import { FAULT_PHASES, type Fault, type FaultPhase, type FaultRequest } from "../../faults.ts";
import { OPERATIONS } from "../../operations.ts";
import { changedIn, PROFILE_SWITCHES } from "../../profile/profile.ts";
import { act, selectField, textField } from "../forms.ts";
import { badge, code, counted, facts, fromNow, type Html, long, section, shown, table, when } from "../html.ts";
import { type Action, callAction, find, type Page, ROOT, serviceLink, type Visit } from "../page.ts";

const UNITS = ["seconds", "minutes", "hours", "days", "weeks", "months"] as const;

/** Advances the clock, and waits until the due events are sent. */
async function advance({ control }: Visit, span: Span): Promise<string> {
  const { now } = control.advanceClock(span);
  await control.settled();
  return `The clock shows ${now.slice(0, 10)} ${now.slice(11, 19)} UTC. Everything that fell due is done.`;
}

const step = (span: Span): Action => ({ api: "POST /clock/advance", run: (visit) => advance(visit, span) });

const clock: Page = {
  path: "/clock",
  title: () => "Clock",
  actions: {
    freeze: callAction("freezeClock", "The clock is frozen."),
    resume: callAction("resumeClock", "The clock runs again."),
    hour: step({ hours: 1 }),
    day: step({ days: 1 }),
    week: step({ weeks: 1 }),
    month: step({ months: 1 }),
    advance: {
      api: "POST /clock/advance",
      run: (visit, form) => {
        const unit = form.oneOf("unit", "The unit", UNITS);
        return advance(visit, { [unit]: form.number("amount", "How far") ?? 0 });
      },
    },
  },
  live: { time, due },
  body: (visit) => html`<div class="card"><div id="time" data-live>${time(visit)}</div>
<div class="row wrap actions">${
    visit.frozen
      ? act(visit, { do: "resume", label: "Resume", tone: "primary" })
      : act(visit, { do: "freeze", label: "Freeze" })
  }${act(visit, { do: "hour", label: "+ 1 hour" })}${act(visit, { do: "day", label: "+ 1 day" })}${act(visit, { do: "week", label: "+ 1 week" })}${act(visit, { do: "month", label: "+ 1 month" })}</div>
${act(visit, {
  do: "advance",
  label: "Advance",
  inline: true,
  fields: (
    kept,
  ) => html`${textField(kept, { name: "amount", label: "Further by", type: "number", value: "3", min: 0, step: "any", size: 6 })}
${selectField(kept, { name: "unit", label: "Unit", options: UNITS.map((unit) => [unit, unit]), value: "days" })}`,
})}</div>
${section("Next, in all accounts", html`<div id="due" data-live>${due(visit)}</div>`)}`,
};

function time({ now, frozen }: Visit): Html {
  return html`<p class="clock-now">${when(now)} UTC ${frozen ? badge("frozen", "wait") : badge("running", "good")}</p>`;
}

/** Maximum number of groups on the page, and of steps that are read for them. */
const GROUPS = 25;
const LOOKED_AT = 1000;
function due(visit: Visit): Html {
  return table({
    caption: "What falls due next",
    columns: { When: "", In: "wide", What: "" },
    items: agenda(visit, GROUPS),
    row: (group) => [when(group[0].at), fromNow(group[0].at, visit.now), whatHappens(visit, group)],
    empty: "Nothing is due.",
  });
}

/** Steps of the same type and account that are due at the same time. */
type Group = readonly [Upcoming, ...Upcoming[]];

function agenda({ control }: Visit, most: number): Group[] {
  const groups = Map.groupBy(control.upcoming(LOOKED_AT), (one) => `${one.at} ${one.what} ${one.customer_id}`);
  return [...groups.values()].slice(0, most) as unknown as Group[];
}

const WORDS: Readonly<Record<Upcoming["what"], readonly [one: string, many: string]>> = {
  provision: ["is provisioned", "are provisioned"],
  register: ["is registered", "are registered"],
  suspend: ["is suspended", "are suspended"],
  unsuspend: ["is unsuspended", "are unsuspended"],
  notice: ["enters its renewal notice window", "enter their renewal notice window"],
  renew: ["is renewed: an invoice is raised", "are renewed: invoices are raised"],
  terminate: ["is terminated, unless its invoice is paid", "are terminated, unless their invoices are paid"],
  cancel: ["is cancelled, unless its invoice is paid", "are cancelled, unless their invoices are paid"],
  deliver: ["is sent", "are sent"],
};

/** Returns the next steps for the overview. Includes all accounts, because they share the clock. */
export function dueList(visit: Visit, most: number): Html {
  const due = agenda(visit, most);
  if (due.length === 0) return html`<p class="empty">Nothing is due.</p>`;
  return html`<ol class="due">${due.map(
    (group) => html`<li><div>${whatHappens(visit, group)}</div>
<div class="under hint">${when(group[0].at)}, ${fromNow(group[0].at, visit.now)}</div></li>`,
  )}</ol>`;
}

/** Describes a group, with its account if it is not the selected account. */
function whatHappens(visit: Visit, group: Group): Html {
  const [{ what, customer_id }] = group;
  const other = visit.accounts.find(({ id }) => id === customer_id && id !== visit.account.id);
  const whose = other !== undefined && html` <span class="hint">of ${other.name}</span>`;
  const [one, many] = WORDS[what];
  if (group.length === 1) return html`${subject(visit, group[0])}${whose} ${one}`;
  const noun = what === "deliver" ? ["delivery", "deliveries"] : what === "register" ? ["domain order"] : ["service"];
  return html`<strong>${counted(group.length, noun[0] ?? "", noun[1])}</strong>${whose} ${many}`;
}

function subject(visit: Visit, { what, order_id, delivery_id }: Upcoming): Html {
  if (delivery_id !== null) {
    const event = find(visit.control, "deliveries", delivery_id)?.event;
    return html`<a href="${ROOT}/deliveries/${delivery_id}">Delivery ${delivery_id}</a>${event !== undefined && html` ${code(event)}`}`;
  }
  if (order_id === null) return html``;
  if (what !== "register") return serviceLink(visit, order_id);
  const domain = find(visit.control, "domains", order_id)?.domain;
  return html`Domain order ${order_id}${domain !== undefined && html` ${long(domain)}`}`;
}

/** Effects of a fault, as the options of one control. */
const OUTCOMES: readonly { word: string; label: string; effect: Partial<FaultRequest> }[] = [
  { word: "500", label: "500 Server Error", effect: { status: 500 } },
  { word: "503", label: "503 Service Unavailable", effect: { status: 503 } },
  { word: "429", label: "429 Too Many Requests", effect: { status: 429 } },
  { word: "drop", label: "the connection is cut", effect: { drop: true } },
  { word: "slow", label: "the answer takes 3 seconds", effect: { delayMs: 3000 } },
];

const PHASES: Readonly<Record<FaultPhase, string>> = {
  before: "before the request is processed",
  after: "after the request is processed",
  "mid-body": "after half of the body",
  "body-end": "after the complete body, one byte before the announced length",
  delivery: "at the receiver of an event",
};

const add: Action = {
  api: "POST /faults",
  run: ({ control }, form) => {
    const words = OUTCOMES.map(({ word }) => word);
    const outcome = form.oneOf("outcome", "What happens", words);
    const phase = form.oneOf("phase", "The phase", FAULT_PHASES);
    const times = form.number("times", "How often");
    const percent = form.number("percent", "How likely");
    const operation = form.text("operation");
    const fault = control.addFault({
      phase,
      ...(operation !== undefined && { operation }),
      ...(operation === undefined && phase !== "delivery" && { path: "/*" }),
      ...OUTCOMES.find(({ word }) => word === outcome)?.effect,
      ...(times !== undefined && { times }),
      ...(percent !== undefined && percent !== 100 && { probability: percent / 100 }),
    });
    return `Fault ${fault.id} is added.`;
  },
};

const faults: Page = {
  path: "/faults",
  title: () => "Faults",
  actions: { add, clear: callAction("clearFaults", "All faults are removed.") },
  live: { list },
  body: (visit) => html`${section(
    "Faults",
    html`<div id="list" data-live>${list(visit)}</div>
${visit.control.faults().length === 0 ? "" : html`<div class="row actions">${act(visit, { do: "clear", label: "Remove all" })}</div>`}`,
  )}
${section(
  "Add a fault",
  act(visit, {
    do: "add",
    label: "Add",
    tone: "primary",
    fields: (kept) => html`<div class="grid-fields">
${selectField(kept, { name: "operation", label: "Which request", options: [["", "any"], ...Object.keys(OPERATIONS).map((name): [string, string] => [name, name])] })}
${selectField(kept, { name: "phase", label: "When", options: FAULT_PHASES.map((phase) => [phase, PHASES[phase]]) })}
${selectField(kept, { name: "outcome", label: "What happens", options: OUTCOMES.map(({ word, label }) => [word, label]) })}
${textField(kept, { name: "times", label: "How often", type: "number", value: "1", min: 1, size: 6 })}
${textField(kept, { name: "percent", label: "How likely, in percent", type: "number", value: "100", min: 0, max: 100, step: "any", size: 6 })}
</div><p class="hint">"After the request is processed" with a cut connection is the hard case: the order is placed, and the client does not know.</p>`,
  }),
)}`,
};

function list({ control }: Visit): Html {
  return table({
    caption: "Faults, in the order in which they are tried",
    columns: { "No.": "", Target: "", When: "wide", "What happens": "", Injected: "end" },
    items: control.faults(),
    row: (fault) => [
      html`<span class="nums">${fault.id}</span>`,
      html`${code(target(fault))}${fault.probability !== undefined && html` <span class="hint">${Math.round(fault.probability * 1000) / 10} %</span>`}`,
      PHASES[fault.phase],
      effectOf(fault),
      html`<span class="nums">${fault.fired}</span> <span class="hint">of ${counted(fault.seen, "match", "matches")}</span>`,
    ],
    empty: "No faults.",
  });
}

function target({ operation, method, path, event, phase }: Fault): string {
  if (phase === "delivery") return event ?? "any event";
  return operation ?? `${method ?? "any"} ${path ?? "/*"}`;
}

function effectOf({ status, drop, delayMs, body }: Fault): string {
  const parts = [
    delayMs === undefined ? "" : `${delayMs} ms late`,
    status === undefined ? "" : `answers ${status}`,
    drop ? "cuts the connection" : "",
    body === undefined ? "" : "with a given body",
  ].filter(Boolean);
  return parts.join(", ") || "answers 500";
}

const settings: Page = {
  path: "/settings",
  title: () => "Settings",
  actions: { reset: callAction("reset", "The sandbox is reset to its seeded data.") },
  body: (visit) => {
    const { seed, rateLimit, autoPay } = visit.about.settings;
    return html`<div class="card">${facts([
      ["API", code(visit.about.url)],
      ["Seed", code(seed)],
      ["Rate limit", rateLimit === 0 ? "off" : `${rateLimit} requests a minute for each token`],
      ["Invoices", autoPay ? "paid automatically" : "paid by hand"],
    ])}</div>
${order(visit)}
${section("Profile", profile(visit))}
${section(
  "Snapshot",
  html`<p>The whole state as a file: <a href="/snapshot" download="sandbox.snapshot.json">download it</a>, and start from it with <code>hostform sandbox --snapshot FILE</code>.</p>`,
)}
${section("Start over", act(visit, { do: "reset", label: "Reset", tone: "danger", confirm: "This deletes all services, invoices, webhooks and requests, and the tokens that you created." }))}`;
  },
};

/** Returns the command that orders a service. Only the API can order, as at the real host. */
function order({ about, account }: Visit): Html {
  const line = `curl -X POST ${about.url}/api/v1/services \\
  -H "Authorization: Bearer $HOSTING_TOKEN" -H "Accept: application/json" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: first-order" \\
  -d '{"plan_id": 11, "currency": "USD", "domain": "www.acme.example"}'`;
  return html`<section class="card" id="order" aria-labelledby="h-order"><div class="card-head"><h2 id="h-order">Order a service</h2></div>
<p>Services are ordered by API. With the token of the account ${shown(account.name)} in <code>HOSTING_TOKEN</code>, as the sandbox printed it when it started:</p>
<pre tabindex="0" role="region" aria-label="An order with curl"><code>${line}</code></pre></section>`;
}

function profile({ about }: Visit): Html {
  const { profile } = about.settings;
  return html`<p class="hint">How the sandbox fills the gaps of the specification. Choose it at the start: <code>hostform sandbox --profile …</code></p>
${table({
  caption: "Switches of the profile",
  columns: { Switch: "", Value: "", Others: "wide" },
  items: changedIn(profile),
  row: (name) => [
    html`<code>${name}</code>`,
    html`<strong>${profile[name]}</strong>`,
    html`<span class="hint">${PROFILE_SWITCHES[name].filter((word) => word !== profile[name]).join(", ")}</span>`,
  ],
  empty: "Every switch has its default value.",
})}`;
}

export const sandboxPages: readonly Page[] = [clock, faults, settings];
