import { VERSION } from "../../core/api/version.ts";
import { type Invocation, printJson } from "../io.ts";

/** `hostform version`. */
export async function runVersion(invocation: Invocation): Promise<number> {
  const platform = `${process.platform}-${process.arch}`;
  if (invocation.options.json) {
    printJson(invocation, { version: VERSION, node: process.versions.node, platform });
  } else invocation.io.out(`hostform ${VERSION} (Node ${process.versions.node}, ${platform})\n`);
  return 0;
}
