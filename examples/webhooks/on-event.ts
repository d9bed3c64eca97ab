import { invoiceIdOf, serviceIdOf, type WebhookEvent } from "hostform/webhooks/fetch";

/**
 * What happens to an event, whichever server it came by. When it throws, the sender tries again.
 *
 * What `data` holds is not specified, so an event only says what to look at. A program that needs the state of a service
 * reads it through the API.
 */
export async function onEvent(event: WebhookEvent): Promise<void> {
  if (!event.known) {
    console.log("not known here:", event.event);
    return;
  }
  switch (event.event) {
    case "invoice.created":
    case "invoice.paid":
      console.log(event.event, "- look at invoice", invoiceIdOf(event), "of service", serviceIdOf(event));
      break;
    case "service.expiring":
      console.log(event.event, "- write to the owner of service", serviceIdOf(event));
      break;
    default:
      console.log(event.event, "- look at service", serviceIdOf(event));
  }
}
