import { service } from "../../core/kinds/service/index.ts";
import { signOnRefused } from "../../core/lifecycle/index.ts";
import { type ProviderFlags, withProvider } from "../account.ts";
import { type Invocation, printJson, revealJson, say } from "../io.ts";
import { serviceTarget } from "../service-target.ts";

export interface SsoFlags extends ProviderFlags {
  readonly open?: boolean;
}

/** `hostform sso ADDRESS`: a one-time sign-on URL of the control panel, on standard output and nowhere else. */
export async function runSso(invocation: Invocation, flags: SsoFlags, target: string): Promise<number> {
  const { id, alias } = await serviceTarget(invocation, target, flags.provider);
  const { url } = await withProvider(invocation, alias, async ({ client, account }, signal) => {
    try {
      return await client.services.panelSso(id, { signal });
    } catch (error) {
      throw await signOnRefused(account, service, id, error);
    }
  });
  invocation.io.redaction.learn(url);
  if (flags.open) {
    await invocation.io.browse(url);
    say(invocation, `Opened the control panel of service ${id}.`);
    if (invocation.options.json) printJson(invocation, { service_id: id, opened: true });
  } else if (invocation.options.json) revealJson(invocation, { service_id: id, url });
  else invocation.io.reveal(`${url}\n`);
  return 0;
}
