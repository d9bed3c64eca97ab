/** The sandbox itself: where it listens, how it fills the gaps of the specification, and back to the beginning. */
import { html } from "hono/html";
import { PROFILE_SWITCHES, type ProfileSwitch } from "../../profile/profile.ts";
import type { Page, Visit } from "../page.ts";
import { act } from "../parts/act.ts";
import { facts, section, table } from "../parts/table.ts";
import { code, type Html, shown } from "../parts/text.ts";

export const settings: Page = {
  path: "/settings",
  nav: "/settings",
  title: () => "Settings",
  actions: {
    reset: {
      api: "POST /reset",
      run: ({ control }) => {
        control.reset();
        return { text: "Everything is as it was at the beginning." };
      },
    },
  },
  body: (visit) => {
    const { apiUrl, seed, rateLimit, autoPay } = visit.about;
    return html`<div class="card">${facts([
      ["API", code(apiUrl)],
      ["Seed", code(seed)],
      ["Rate limit", rateLimit === 0 ? "off" : `${rateLimit} requests a minute for each token`],
      ["Invoices", autoPay ? "paid as they are raised" : "paid by hand"],
    ])}</div>
${order(visit)}
${section("Profile", profile(visit))}
${section(
  "Snapshot",
  html`<p>Everything there is, as a file: <a href="/snapshot" download="sandbox.snapshot.json">download it</a>, and start from it with <code>hostform sandbox --snapshot FILE</code>.</p>`,
)}
${section("Start over", act(visit, { do: "reset", label: "Reset", tone: "danger", confirm: "All services, invoices, webhooks and requests are lost, and tokens that were created." }))}`;
  },
};

/** Orders cost money at the real host, so they are the API's alone: the line to copy. */
function order({ about, account }: Visit): Html {
  const line = `curl -X POST ${about.apiUrl}/api/v1/services \\
  -H "Authorization: Bearer $HOSTING_TOKEN" -H "Accept: application/json" \\
  -H "Content-Type: application/json" -H "Idempotency-Key: first-order" \\
  -d '{"plan_id": 11, "currency": "USD", "domain": "www.acme.example"}'`;
  return html`<section class="card" id="order" aria-labelledby="h-order"><div class="card-head"><h2 id="h-order">Order a service</h2></div>
<p>Services are ordered by API. With the token of the account ${shown(account.name)} in <code>HOSTING_TOKEN</code>, as the sandbox printed it when it started:</p>
<pre tabindex="0" role="region" aria-label="An order with curl"><code>${line}</code></pre></section>`;
}

function profile({ about }: Visit): Html {
  const names = Object.keys(PROFILE_SWITCHES) as ProfileSwitch[];
  const changed = names.filter((name) => about.profile[name] !== PROFILE_SWITCHES[name][0]);
  const list = (shownNames: readonly ProfileSwitch[], empty: string) =>
    table({
      caption: "Switches of the profile",
      unseen: true,
      columns: [{ title: "Switch" }, { title: "Value" }, { title: "Others", wide: true }],
      rows: shownNames.map((name) => [
        html`<code>${name}</code>`,
        html`<strong>${about.profile[name]}</strong>`,
        html`<span class="hint">${PROFILE_SWITCHES[name].filter((word) => word !== about.profile[name]).join(", ")}</span>`,
      ]),
      empty,
    });
  return html`<p class="hint">How the gaps of the specification are filled. It is chosen when the sandbox starts: <code>hostform sandbox --profile …</code></p>
${list(changed, "Every switch has its default value.")}
<details class="unfold"><summary>All ${names.length} switches</summary>${list(names, "")}</details>`;
}
