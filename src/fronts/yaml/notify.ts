import * as z from "zod";
import { CHANNEL_FORMATS, type Channel, formatOf, isLoopback } from "../../core/model/index.ts";
import type { DiagnosticCollector } from "../source/diagnostics.ts";
import { typedValue } from "../source/scalars.ts";
import { checkedSetting } from "../source/settings.ts";
import type { Entry } from "../source/tree.ts";
import { secretSourceForms } from "./settings.ts";

const { env, command } = secretSourceForms.shape;

const url = z
  .url({ protocol: /^https?$/, error: "expected a URL" })
  .refine((text) => {
    const url = URL.parse(text);
    return url?.protocol !== "http:" || isLoopback(url);
  }, "expected an https URL: only an address of this machine may have http")
  .refine((url) => formatOf({ url }) === "cloudevents", "the URL of Slack or Teams is a secret: use `url_env`");

/** Schema of the section `notify`, also for editors. */
export const channelList = z.array(
  z
    .strictObject({
      url: url.optional().describe("URL that receives JSON."),
      url_env: env.optional().describe("Environment variable with the URL."),
      command: command.optional().describe("Program that reads text from its standard input."),
      format: z.enum(CHANNEL_FORMATS).optional().describe("Format of the JSON. Default: by the host of the URL."),
      secret_env: env.optional().describe("Environment variable with the signing secret."),
    })
    .refine((one) => [one.url, one.url_env, one.command].filter(Boolean).length === 1, {
      error: "expected one of `url`, `url_env` and `command`",
    }),
  "expected a list of channels",
);

const section = z.strictObject({ notify: channelList });

/** Reads the section `notify`. @returns no channel after a reported error. */
export function readChannels(entry: Entry, diags: DiagnosticCollector): readonly Channel[] {
  const given = typedValue(entry.value, channelList, { path: [entry.key], diags, keySpan: entry.keySpan });
  return checkedSetting(section, entry, given, diags)?.notify ?? [];
}
