/**
 * Starts to measure the CPU time of this process. Unlike real time, CPU time does not depend on other work of the
 * machine.
 * @returns A function that returns the CPU time since the start, in milliseconds.
 */
export function cpuTimer(): () => number {
  const since = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  };
}
