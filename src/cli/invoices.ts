/** Lists the invoices of an account with their domains, clients and sums. */
import { requireScale } from "../core/messages/index.ts";
import { ifExplained, isOpen, type ResourceState } from "../core/model/index.ts";
import { type ProviderFlags, withProvider } from "../project/providers.ts";
import { selected } from "../project/selection.ts";
import { invoiceSums, renderFields, renderListing } from "../report/index.ts";
import { withoutRaw } from "./list.ts";
import { type Action, printJson, type Switches } from "./terminal.ts";

interface InvoiceFlags extends ProviderFlags, Switches<"unpaid" | "overdue"> {
  readonly client?: string;
  /** Month, `YYYY-MM`. */
  readonly month?: string;
}

/** Runs `hostform invoices [ID]`. Sends only GET requests. */
export const runInvoices: Action<InvoiceFlags, [id?: string]> = async (terminal, project, flags, id) => {
  const { provider: alias = "default", unpaid, overdue, client: wanted, month = "" } = flags;
  return withProvider(project, alias, async ({ client, config: { moneyScale } }, signal) => {
    const call = { signal, onNoList: () => undefined };
    const found = id === undefined ? await client.invoices.list(call).all() : [await client.invoices.get(id, call)];
    const services = await client.services
      .list(call)
      .all()
      .catch(ifExplained(() => []));
    const domains = new Map(services.map((one) => [one.id, one.domain]));
    const none = ifExplained(() => ({ resources: new Map<string, ResourceState>() }));
    const { resources } = await project.state.read(false).catch(none);
    const own = [...resources.values()].filter(({ provider }) => provider === alias);
    if (wanted !== undefined)
      selected(
        [`client:${wanted}`],
        own.map(({ address, private: { client: of } }) => ({ address, client: of })),
      );
    const byId = new Map(own.map((one) => [one.attributes.id, one]));
    const today = new Date(client.hostNow()).toISOString().slice(0, 10);
    const rows = found
      .map((one) => {
        const { attributes, private: mark } = byId.get(one.order_id ?? "") ?? {};
        const domain = domains.get(one.order_id ?? "") ?? attributes?.domain;
        return { ...one, domain: typeof domain === "string" ? domain : null, client: mark?.client ?? null };
      })
      .filter((one) => {
        const due = one.due_date ?? "";
        const isUnpaid = isOpen(one) && (!overdue || (due !== "" && due < today));
        return (isUnpaid || !(unpaid || overdue)) && (one.client === wanted || !wanted) && due.startsWith(month);
      });
    const records = rows.map(withoutRaw);
    const [one] = records;
    if (terminal.json) printJson(terminal, "invoices", records);
    else if (id !== undefined && one !== undefined) terminal.out(renderFields(one, terminal.outLook));
    else {
      requireScale(moneyScale, "invoice", rows);
      terminal.out(renderListing("invoices", rows, { ...terminal.outLook, moneyScale: () => moneyScale }));
      if (rows.length > 0) terminal.out(invoiceSums(rows, moneyScale, terminal.outLook.width));
    }
    return 0;
  });
};
