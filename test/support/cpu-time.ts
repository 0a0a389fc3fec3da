/**
 * Returns the processor time of this process in ms, which unlike a clock does not advance while other processes run.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
