// The same services as a stack, as cdktf and cdktn synthesize it.
import type { Declared } from "./account.ts";

/** The content of `cdk.tf.json`. Its state is beside it. */
export function stackOf(services: Declared["services"]): object {
  const at = (name: string) => ({ metadata: { path: `bench/${name}`, uniqueId: name } });
  const grants = services.flatMap(([name, { grants: emails = [] }]) =>
    emails.map((email, index) => {
      const own = `${name}_grant${index}`;
      return [own, { "//": at(own), service_id: `\${hosting_service.${name}.id}`, email, permission: "view" }] as const;
    }),
  );
  return {
    "//": { metadata: { backend: "local", stackName: "bench", version: "0.21.0" } },
    terraform: {
      backend: { local: { path: "terraform.bench.tfstate" } },
      required_providers: { hosting: { source: "hostform/hosting" } },
    },
    provider: { hosting: [{ project: "bench", requests_per_minute: 6_000 }] },
    resource: {
      hosting_service: Object.fromEntries(
        services.map(([name, { domain }]) => [name, { "//": at(name), plan_id: 11, currency: "USD", domain }]),
      ),
      ...(grants.length > 0 && { hosting_grant: Object.fromEntries(grants) }),
    },
  };
}
