/** For the reference page. */
export const description = `A hosted service. Ordering it raises an invoice at once; it is provisioned when the invoice is paid.

A service can be ordered, suspended and given a password, but neither changed nor deleted by the API. So hostform never
orders a replacement automatically: a change of \`plan_id\`, \`currency\`, \`domain\`, \`term\` or \`coupon_code\` is an error of the
plan that names the choices, and removing the block follows \`deletion_policy\`.

An order carries an Idempotency-Key derived from the project and \`reference\` (or the address), so that the same order
sent twice makes one service. An existing service of the same domain is never ordered again: adopt it with \`import\`. Nor is a server without
a domain ordered while one of its plan exists that is not in the state, unless \`--order-anyway\` is given.

\`suspended\` and the password wait until the service is live. Status words that hostform does not know are never acted
upon; map them under \`providers: … status_words\`.`;

/** The same in Terraform's terms. */
export const hcl = `A hosted service. Ordering it raises an invoice at once; it is provisioned when the invoice is paid.

The API can suspend a service and set its password. It can neither change nor delete one, and an order costs money:

- **No automatic replacement.** A change of \`plan_id\`, \`currency\`, \`domain\`, \`term\` or \`coupon_code\` is an error of the
  plan that names the choices. With \`replace_on_change = true\` and a new \`reference\` the service is ordered again.
- **No deletion.** Destroying follows the \`deletion_policy\` in the state: \`prevent\` (the default) is an error of the plan, also for
  a service that is only not found.
- **No second order.** The Idempotency-Key is made of the provider's \`project\` and \`reference\` (default: the domain). An order
  keeps that name. A service of the same domain that exists already is not ordered again: the plan is an error that offers
  an \`import\` block.
- **No taint.** A failure after the order was placed is a warning, and the next apply continues from there.
- **No order in place of what is gone.** A service that was terminated elsewhere stays in the state, with a warning.
  \`terraform apply -replace\` with a new \`reference\` orders it again.

\`suspended\` and the password wait until the service is live. Status words that are not known are never acted upon; map them
with the provider's \`status_words\`.`;

/** The declaration on the reference page. */
export const example = `services:
  acme-www:
    plan_id: 101
    currency: USD
    domain: www.acme.example
    term: 12
    deletion_policy: suspend
    grants:
      dev@acme.example: manage`;
