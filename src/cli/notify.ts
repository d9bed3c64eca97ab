import { testChannels } from "../project/notify/index.ts";
import { type Action, printResult } from "./terminal.ts";

/** Runs `hostform notify test`: sends a test notification to each channel. @returns 1 if a channel fails. */
export const runNotifyTest: Action = async (terminal, project) => {
  const deliveries = await testChannels(project);
  const lines = deliveries.map(
    ({ channel, error = "sent", fix }) => `${channel}: ${error}${fix ? `\n  Fix: ${fix}` : ""}\n`,
  );
  const results = deliveries.map((one) => ({ ...one, sent: !one.error }));
  printResult(terminal, "notify test", { deliveries: results }, lines.join(""));
  return results.every(({ sent }) => sent) ? 0 : 1;
};
