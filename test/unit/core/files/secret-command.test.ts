import { describe, expect, it } from "vitest";
import { captureCommand } from "../../../../src/core/files/secret-command.ts";

const SECRET = "correct horse battery";

describe("a command for secrets", () => {
  const node = (script: string): [string, ...string[]] => [process.execPath, "-e", script];
  const options = { cwd: import.meta.dirname, env: {}, input: SECRET, timeoutMs: 20_000 };

  it("gets its input, its folder and its environment, and its output is returned", async () => {
    const script = `console.error(process.cwd(), process.env.A); process.stdin.pipe(process.stdout)`;
    const end = await captureCommand(node(script), { ...options, env: { A: "b" } });
    expect(end).toEqual({ stdout: SECRET, stderr: `${import.meta.dirname} b\n` });
  });

  it("gets its arguments unchanged, without a shell", async () => {
    const [program, ...rest] = node("console.log(process.argv.slice(1).join())");
    const end = await captureCommand([program, ...rest, "$HOME", "a b;c"], options);
    expect(end.stdout).toBe("$HOME,a b;c\n");
  });

  it("may ignore its input", async () => {
    const end = await captureCommand(node("process.exit(0)"), { ...options, input: "x".repeat(1_000_000) });
    expect(end.failure).toBeUndefined();
  });

  it.each([
    [node("process.exit(3)"), 20_000, "ended with exit code 3"],
    [node("process.kill(process.pid, 'SIGTERM')"), 20_000, "was ended by SIGTERM"],
    [["/no/such/program"] as [string], 20_000, "could not be found"],
    [[import.meta.dirname] as [string], 20_000, "could not be started (EACCES)"],
    [node("setInterval(() => {}, 1000)"), 1, "did not end within 0.001 seconds"],
  ])("%o reports how it ended", async (command, timeoutMs, failure) => {
    expect((await captureCommand(command, { ...options, timeoutMs })).failure).toBe(failure);
  });

  it("is ended at its time limit", async () => {
    let pid = Number.NaN;
    // On a busy machine, the start of the command may take longer.
    for (let timeoutMs = 200; Number.isNaN(pid); timeoutMs *= 4) {
      const { stdout } = await captureCommand(["sh", "-c", "echo $$; exec sleep 1000"], { ...options, timeoutMs });
      pid = Number.parseInt(stdout, 10);
    }
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("fails if its output is too long for a secret", async () => {
    const end = await captureCommand(node("process.stdout.write('x'.repeat(3_000_000))"), options);
    expect(end.stdout.length).toBeLessThan(300_000);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
