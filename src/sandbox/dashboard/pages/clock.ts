/** The sandbox's clock: standing still, moved forward, and what it does next. */
import { html } from "hono/html";
import type { Span } from "../../control/time.ts";
import type { Action, Page, Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { badge } from "../parts/badge.ts";
import { dueTable } from "../parts/due.ts";
import { selectField, textField } from "../parts/fields.ts";
import { section } from "../parts/table.ts";
import { type Html, when } from "../parts/text.ts";

const UNITS = ["seconds", "minutes", "hours", "days", "weeks", "months"] as const;
const DUE = 25;

/** As the call by HTTP: the page is answered when what fell due has been sent, too. */
async function advance({ control }: Visit, span: Span): Promise<{ text: string }> {
  const { now } = control.advanceClock(span);
  await control.settled();
  return { text: `It is ${now.slice(0, 10)} ${now.slice(11, 19)} UTC now. What fell due on the way has happened.` };
}

const step = (span: Span): Action => ({ api: "POST /clock/advance", run: (visit) => advance(visit, span) });

export const clock: Page = {
  path: "/clock",
  nav: "/clock",
  title: () => "Clock",
  actions: {
    freeze: {
      api: "POST /clock/freeze",
      run: ({ control }) => {
        control.freezeClock();
        return { text: "The clock stands still." };
      },
    },
    resume: {
      api: "POST /clock/resume",
      run: ({ control }) => {
        control.resumeClock();
        return { text: "The clock goes on." };
      },
    },
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
  return html`<p class="clock-now">${when(now)} UTC ${frozen ? badge("stands still", "wait") : badge("runs", "good")}</p>`;
}

function due(visit: Visit): Html {
  return dueTable(visit, DUE);
}
