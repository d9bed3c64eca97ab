import { service } from "../../../core/kinds/service/index.ts";
import { isNotFound, signOnRefused } from "../../../core/lifecycle/index.ts";
import { fail } from "../../../core/model/index.ts";
import type { EphemeralResource } from "../contract.ts";

/**
 * A one-time sign-on URL (§4 panel-sso). The API has it as a GET, which is repeated when its answer is lost: the URL that
 * nobody got is never used, and a sign-on that failed would have to be asked for anew anyway.
 */
export const panelSso: EphemeralResource = {
  name: "hosting_panel_sso",
  schema: {
    version: 0,
    description: `A one-time single sign-on URL into a service's control panel. It stands in no plan and no state: it can be handed to providers, provisioners and write-only attributes only.

Terraform opens ephemeral resources during \`plan\` as well, as soon as \`service_id\` is known: each plan and each apply asks for a URL of its own. The API has no call to withdraw one that is not used. The token needs the technical ability.`,
    attributes: {
      service_id: { type: "string", required: true, description: "The service; it must be provisioned." },
      url: {
        type: "string",
        computed: true,
        sensitive: true,
        description: "The URL, good for one sign-on. Whoever has it is signed on.",
      },
    },
  },
  async open({ service_id }, { client, account, stop }) {
    const id = String(service_id);
    try {
      const { url } = await client.services.panelSso(id, { signal: stop });
      return { service_id: id, url };
    } catch (refusal) {
      const error = await signOnRefused(account, service, id, refusal);
      if (!isNotFound(error)) throw error;
      return fail("terraform.lookup", `There is no service ${id} to sign on to`, {
        detail: "The API does not know it, or not in the account of this token.",
        remedies: ["Correct `service_id`."],
        attribute: ["service_id"],
      });
    }
  },
};
