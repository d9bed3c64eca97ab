/** Every page of the dashboard, in the order in which paths are tried. */
import type { Page } from "../page.ts";
import { clock } from "./clock.ts";
import { delivery } from "./delivery.ts";
import { faults } from "./faults.ts";
import { invoices } from "./invoices.ts";
import { migration } from "./migration.ts";
import { migrations } from "./migrations.ts";
import { overview } from "./overview.ts";
import { request, requests } from "./requests.ts";
import { service } from "./service.ts";
import { services } from "./services.ts";
import { settings } from "./settings.ts";
import { tokens } from "./tokens.ts";
import { webhook } from "./webhook.ts";
import { webhooks } from "./webhooks.ts";

export const PAGES: readonly Page[] = [
  overview,
  services,
  service,
  invoices,
  tokens,
  webhooks,
  webhook,
  delivery,
  migrations,
  migration,
  requests,
  request,
  clock,
  faults,
  settings,
];
