/** Runs the `hostform` commands of a page in this process, because a start of Node takes longer than most commands. */
import { closeSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { captureCommand, runShell } from "../../src/project/programs.ts";
import { fakeIo } from "../support/io.ts";
import { builtProgram, runCli } from "../support/program.ts";

/** Commands that read no standard input and always end. Other commands and programs of the page run as processes. */
const HERE =
  "adopt|apply|audit|doctor|export|import|invoices|output|plan|plans|policy|resolve|services|show|state|status|validate";

/** Returns the program for the PATH of a page, and a function that stops it. Commands write to their caller's streams. */
export async function residentProgram(): Promise<{ readonly script: string; close(): void }> {
  const main = `exec "${process.execPath}" "${await builtProgram()}" "$@"`;
  const begin = "#!/bin/bash\n";
  if (process.platform !== "linux") return { script: `${begin}${main}\n`, close: () => undefined };
  const server = createServer((socket) => {
    let asked = "";
    socket.on("data", async (chunk) => {
      asked += chunk;
      if (!asked.endsWith("\0\0")) return;
      try {
        socket.write(`${await answer(asked.slice(0, -2).split("\0"))}\n`);
      } finally {
        socket.end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const here = `case "$1 $*" in *" --app "*) ;; ${HERE.replaceAll(/\w+/g, "$&\\ *")})
  exec 3<>/dev/tcp/127.0.0.1/${port} 4>&1 5>&2
  { printf '%s\\0' $$ "$PWD" $# "$@"; env -0; printf '\\0'; } >&3
  read -r code <&3
  exit $code ;;
esac
`;
  return { script: `${begin}${here}${main}\n`, close: () => server.close() };
}

/** Runs a command for a process, whose streams are its descriptors 4 and 5. Returns the exit code. */
async function answer([pid, cwd = "", count, ...rest]: readonly string[]): Promise<number> {
  const [args, variables] = [rest.slice(0, Number(count)), rest.slice(Number(count))];
  const env = Object.fromEntries(
    variables.map((line) => [line.split("=", 1)[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
  const [out, err] = [4, 5].map((fd) => openSync(`/proc/${pid}/fd/${fd}`, "a")) as [number, number];
  try {
    return await runCli(args, {
      ...fakeIo({ cwd, env }),
      out: (text) => void writeSync(out, text),
      err: (text) => void writeSync(err, text),
      capture: captureCommand,
      shell: runShell,
    });
  } finally {
    for (const fd of [out, err]) closeSync(fd);
  }
}
