/**
 * Starts to count the CPU time of this process: other work on the machine does not lengthen it, unlike the real time.
 * @returns the milliseconds since then.
 */
export function cpuTimer(): () => number {
  const since = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  };
}
