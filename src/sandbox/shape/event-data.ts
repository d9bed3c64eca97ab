/** The `data` of an event: an object (§6 Payload) of contents that are not shown. */

import type { Sent } from "../http/reply.ts";
import type { Profile } from "../profile/profile.ts";
import { itemBody } from "./items.ts";
import { idOf } from "./notation.ts";

/**
 * The `data` object of an event about this record: its fields as the API shows them, the same under the record's name
 * (`{"service": {…}}`), or ids alone (`{"service_id": …}`; of an invoice with its order's).
 */
export function eventData(item: Sent, profile: Profile): Record<string, unknown> {
  const body = itemBody(item, profile);
  switch (profile.event_data) {
    case "fields":
      return body;
    case "nested":
      return { [item.kind]: body };
    case "id": {
      const named = { [`${item.kind}_id`]: body.id ?? body[`${item.kind}_id`] };
      return item.kind === "invoice" ? { ...named, order_id: idOf(item.record.order_id, profile) } : named;
    }
  }
}
