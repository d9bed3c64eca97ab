/** Faults: what goes wrong on purpose. The simple ones; the control API takes them all. */
import { html } from "hono/html";
import { FAULT_PHASES, type Fault, type FaultPhase, type FaultRequest } from "../../faults.ts";
import { OPERATIONS } from "../../operations.ts";
import type { Action, Page, Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { selectField, textField } from "../parts/fields.ts";
import { section, table } from "../parts/table.ts";
import { code, counted, type Html } from "../parts/text.ts";

/** What happens instead of the answer, as one choice. */
const OUTCOMES: readonly { word: string; label: string; effect: Partial<FaultRequest> }[] = [
  { word: "500", label: "500 Server Error", effect: { status: 500 } },
  { word: "503", label: "503 Service Unavailable", effect: { status: 503 } },
  { word: "429", label: "429 Too Many Requests", effect: { status: 429 } },
  { word: "drop", label: "the connection is cut", effect: { drop: true } },
  { word: "slow", label: "it takes 3 seconds", effect: { delayMs: 3000 } },
];

const PHASES: Readonly<Record<FaultPhase, string>> = {
  before: "before anything is done",
  after: "after everything is done",
  "mid-body": "in the middle of the answer",
  delivery: "at the receiver of an event",
};

const add: Action = {
  api: "POST /faults",
  run: ({ control }, form) => {
    const outcome = form.oneOf(
      "outcome",
      "What happens",
      OUTCOMES.map(({ word }) => word),
    );
    const phase = form.oneOf("phase", "The phase", FAULT_PHASES);
    const times = form.count("times", "How often");
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
    return { text: `Fault ${fault.id} waits for its request.` };
  },
};

export const faults: Page = {
  path: "/faults",
  nav: "/faults",
  title: () => "Faults",
  actions: {
    add,
    clear: {
      api: "DELETE /faults",
      run: ({ control }) => {
        control.clearFaults();
        return { text: "Nothing goes wrong on purpose any more." };
      },
    },
  },
  live: { list },
  body: (visit) => html`${section(
    "Faults",
    html`<div id="list" data-live>${list(visit)}</div>
${visit.control.faults().length === 0 ? "" : html`<div class="row actions">${act(visit, { do: "clear", label: "Remove all" })}</div>`}`,
  )}
${section(
  "Let something go wrong",
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
</div><p class="hint">"After everything is done" with a cut connection is the hard one: the order is placed, and the client does not know.</p>`,
  }),
)}`,
};

function list({ control }: Visit): Html {
  return table({
    caption: "Faults, in the order in which they are asked",
    unseen: true,
    columns: [
      { title: "No." },
      { title: "Strikes" },
      { title: "When", wide: true },
      { title: "What happens" },
      { title: "Struck", align: "end" },
    ],
    rows: control
      .faults()
      .map((fault) => [
        html`<span class="nums">${fault.id}</span>`,
        html`${code(target(fault))}${fault.probability === undefined ? "" : html` <span class="hint">${Math.round(fault.probability * 1000) / 10} %</span>`}`,
        PHASES[fault.phase],
        effectOf(fault),
        html`<span class="nums">${fault.fired}</span> <span class="hint">of ${counted(fault.seen, "match", "matches")}</span>`,
      ]),
    empty: "Nothing goes wrong on purpose.",
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
    body === undefined ? "" : "with a body of its own",
  ].filter(Boolean);
  return parts.join(", ") || "answers 500";
}
