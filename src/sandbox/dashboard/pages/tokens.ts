/** Page of the account's API tokens: "created by a user in the dashboard (API Tokens page)" (§5.1). */
import { html } from "hono/html";
import { ABILITIES, type Ability, type Token } from "../../store/records.ts";
import { act, checkboxes, textField } from "../forms.ts";
import { code, counted, type Html, section, shown, table } from "../html.ts";
import { type Action, own, type Page, type Visit } from "../page.ts";

const create: Action = {
  api: "POST /tokens",
  run: ({ control, account }, form) => {
    const services = form.all("service_ids");
    const token = control.create("tokens", {
      account: account.id,
      name: form.required("name", "The name"),
      // The control rejects unknown abilities.
      abilities: form.all("abilities") as Ability[],
      service_ids: services.length === 0 ? null : services.map(Number),
    });
    return { text: `The token ${token.name} is created.`, once: { label: "Its value", value: token.value } };
  },
};

const revoke: Action = {
  api: "DELETE /tokens/:id",
  run: ({ control }, form) => {
    const { id, name } = control.get("tokens", form.id());
    control.remove("tokens", id);
    return `The token ${name} is revoked. The API answers its requests with 401.`;
  },
};

export const tokens: Page = {
  path: "/tokens",
  title: () => "API tokens",
  actions: { create, revoke },
  body: (visit) => html`${section("Tokens", list(visit, own(visit, "tokens")))}
${section("Create a token", form(visit))}`,
};

function list(visit: Visit, tokens: readonly Token[]): Html {
  return table({
    caption: `API tokens of ${visit.account.name}`,
    columns: { Name: "", Abilities: "", Services: "", "Ends in": "wide", Actions: "end unseen" },
    items: tokens,
    row: (token) => [
      shown(token.name),
      html`${token.abilities.map((ability) => html`<span class="chip">${ability}</span> `)}`,
      token.service_ids === null
        ? "all"
        : html`<span title="${token.service_ids.join(", ")}">only ${token.service_ids.join(", ")}</span>`,
      code(`…${token.value.slice(-4)}`),
      act(visit, {
        do: "revoke",
        id: token.id,
        label: "Revoke",
        about: `the token ${token.name}`,
        tone: "danger",
        confirm: "The API will answer its requests with 401.",
      }),
    ],
    empty: "This account has no tokens, so no request can act for it.",
  });
}

function form(visit: Visit): Html {
  const services = own(visit, "services").toReversed().slice(0, 30);
  return act(visit, {
    do: "create",
    label: "Create",
    tone: "primary",
    fields: (
      kept,
    ) => html`${textField(kept, { name: "name", label: "Name", required: true, hint: "Small letters, digits and hyphens." })}
${checkboxes(kept, {
  name: "abilities",
  label: "Abilities",
  hint: "A subset of the issuing user's permissions (§5.3).",
  options: ABILITIES.map((word) => [word, word]),
  checked: ["view"],
})}
${
  services.length === 0
    ? ""
    : checkboxes(kept, {
        name: "service_ids",
        label: "Restricted to these services",
        hint: `Select none for all services of the account. ${services.length === 30 ? `The newest ${counted(30, "service")} are listed.` : ""}`,
        options: services.map(({ id, domain, plan }) => [String(id), `${id} ${domain ?? plan}`]),
      })
}`,
  });
}
