/**
 * A provider process that writes entries. `FOLDER PREFIX COUNT` writes COUNT entries of services, prints `written` and
 * waits until it is killed, without closing anything. Imports the sources, because the built provider writes entries
 * only for requests.
 */
import process from "node:process";
import { openStore } from "../../src/core/api/open-store.ts";
import { Entries } from "../../src/fronts/terraform/entries.ts";

const [folder = "", prefix = "", count = ""] = process.argv.slice(2);
const onWarning = ({ summary, detail }: { readonly summary: string; readonly detail?: string }) =>
  void process.stdout.write(`${summary} ${detail}\n`);
const reached = { baseUrl: "https://api.hosting.example", token: "7|canary-token-Zq81xYp4" };
const store = openStore({ ...reached, env: { HOSTFORM_STATE_HOME: folder }, onWarning });
const entries = new Entries({ store, project: "acme", onWarning });
for (let i = 0; i < Number(count); i++) {
  await entries.put("hosting_service", `${prefix}${i}`, {
    address: `hosting_service.${prefix}${i}`,
    provider: "default",
    schemaVersion: 0,
    attributes: { id: `${prefix}-${i}` },
    sensitive: [],
    private: {},
    dependencies: [],
  });
}
process.stdout.write("written\n");
setInterval(() => entries.all("hosting_service"), 60_000);
