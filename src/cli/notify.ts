import { testChannels } from "../project/notify/index.ts";
import { type Action, printResult } from "./terminal.ts";

/** Runs `hostform notify test`: sends a test notification to each channel. @returns 1 if a channel fails. */
export const runNotifyTest: Action = async (terminal, project) => {
  const deliveries = await testChannels(project);
  const lines = deliveries.map(({ channel, failure = "sent", fix }) =>
    [`${channel}: ${failure}\n`, fix && `  Fix: ${fix}\n`].filter(Boolean).join(""),
  );
  const results = deliveries.map(({ channel, failure: error = null, fix = null }) => ({
    channel,
    sent: error === null,
    error,
    fix,
  }));
  printResult(terminal, { deliveries: results }, lines.join(""));
  return results.every(({ sent }) => sent) ? 0 : 1;
};
