/**
 * Page of the account's migration requests. The API only creates them. This page sets credentials, submits and completes them
 * (§1).
 */
import { html } from "hono/html";
import type { MigrationRequest } from "../../store/records.ts";
import { act, textField } from "../forms.ts";
import { badge, counted, facts, type Html, long, maybe, section, shown, table, when } from "../html.ts";
import { callAction, idOf, own, type Page, ROOT, serviceLink, type Visit } from "../page.ts";

const migrations: Page = {
  path: "/migrations",
  title: () => "Migrations",
  body: (visit) => {
    const all = own(visit, "migration_requests").toReversed();
    return html`<p class="lead">Migrations are requested by API. Credentials and the final submission are possible only here.</p>
${section(counted(all.length, "request"), list(visit, all))}`;
  },
};

function list(visit: Visit, requests: readonly MigrationRequest[]): Html {
  return table({
    caption: `Migration requests of ${visit.account.name}`,
    columns: { Id: "", Domain: "", State: "", Credentials: "wide", For: "wide", Requested: "wide" },
    list: { path: `${ROOT}/migrations`, query: visit.query },
    items: requests,
    row: ({ id, domain, status, credentials, order_id, created_at }) => [
      html`<a class="nums" href="${ROOT}/migrations/${id}">${id}</a>`,
      long(domain),
      badge(status),
      credentials === null ? maybe(null) : "set",
      order_id === null ? maybe(null) : serviceLink(visit, order_id),
      when(created_at),
    ],
    empty: html`No migration requests. Create one with <code>POST /api/v1/migration-requests</code>.`,
  });
}

const migration: Page = {
  path: "/migrations/:id",
  nav: "/migrations",
  title: (visit) => `Migration of ${read(visit).domain}`,
  actions: {
    credentials: {
      api: "POST /migration-requests/:id/credentials",
      run: ({ control }, form) => {
        const { id } = control.setMigrationCredentials(form.id(), {
          host: form.text("host") ?? "",
          username: form.text("username") ?? "",
          // A password may begin or end with spaces.
          password: form.raw("password") ?? "",
        });
        return `The credentials of migration request ${id} are set.`;
      },
    },
    submit: callAction("submitMigration", ({ id }) => `Migration request ${id} is submitted.`),
    complete: callAction("completeMigration", ({ id }) => {
      return `Migration request ${id} is completed. Its credentials are deleted.`;
    }),
  },
  body: (visit) => {
    const request = read(visit);
    const { id, order_id, status, credentials, created_at } = request;
    return html`<div class="card">${facts([
      ["Id", html`<span class="nums">${id}</span>`],
      ["State", badge(status)],
      ["For", order_id === null ? maybe(null) : serviceLink(visit, order_id)],
      ["Requested", when(created_at)],
      ...answers(request),
      [
        "Credentials",
        credentials === null
          ? "not set"
          : html`${shown(credentials.username)} at ${shown(credentials.host)}, with a password`,
      ],
    ])}</div>
${step(visit, request)}`;
  },
};

function read(visit: Visit): MigrationRequest {
  return visit.control.get("migration_requests", idOf(visit, "migration request"));
}

/** Returns the answers of the request: source type and scope. */
function answers({ answers: given }: MigrationRequest): [string, Html][] {
  return Object.entries(given).map(([name, value]) => [
    name,
    shown(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}

function step(visit: Visit, { id, status, credentials }: MigrationRequest): Html {
  if (status === "submitted") {
    return section(
      "Move the site",
      html`<p>The host copies the old site and installs it.</p>
${act(visit, { do: "complete", id, label: "Complete", about: `migration request ${id}`, tone: "primary" })}`,
    );
  }
  if (status !== "draft") return html`<p class="empty">No steps are left.</p>`;
  return html`<div class="two">${section(
    "1. Credentials",
    act(visit, {
      do: "credentials",
      id,
      label: credentials === null ? "Set" : "Replace",
      tone: credentials === null ? "primary" : undefined,
      fields: (
        kept,
      ) => html`${textField(kept, { name: "host", label: "Host", value: credentials?.host ?? "", required: true, placeholder: "ftp.old-host.example" })}
${textField(kept, { name: "username", label: "Username", value: credentials?.username ?? "", required: true })}
${textField(kept, { name: "password", label: "Password", type: "password", required: true })}`,
    }),
  )}
${section(
  "2. Final submission",
  credentials === null
    ? html`<p class="empty">Set the credentials first.</p>`
    : act(visit, {
        do: "submit",
        id,
        label: "Submit",
        about: `migration request ${id}`,
        tone: "primary",
        confirm: "The request cannot be changed afterwards.",
      }),
)}</div>`;
}

export const migrationPages: readonly Page[] = [migrations, migration];
