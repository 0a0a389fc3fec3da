import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';

const execFileAsync = promisify(execFile);
const commandTimeoutMs = 5000;

/** Range of ports, both ends included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Lists the TCP ports that Windows reserves for virtual machines and containers, mostly in blocks of 100 that change
 * with each boot. Empty on other systems, and when Windows does not report them. Never throws.
 */
export async function listReservedPorts(platform: NodeJS.Platform = currentPlatform): Promise<readonly PortRange[]> {
  if (platform !== 'win32') return [];
  const args = ['interface', 'ipv4', 'show', 'excludedportrange', 'protocol=tcp'];
  const options = { timeout: commandTimeoutMs, windowsHide: true };
  const { stdout } = await execFileAsync('netsh', args, options).catch(() => ({ stdout: '' }));
  return parseReservedPorts(stdout);
}

/**
 * Parses the table of `netsh`, whose titles are translated. Ranges with `*` were excluded by an administrator, which
 * still permits listening on a port of the range.
 */
export function parseReservedPorts(output: string): readonly PortRange[] {
  return [...output.matchAll(/^[ \t]*(\d+)[ \t]+(\d+)[ \t]*\r?$/gm)].map(([, first, last]) => ({
    first: Number(first),
    last: Number(last),
  }));
}

/** Returns the range that contains a port. */
export function findRange(ranges: readonly PortRange[], port: number): PortRange | undefined {
  return ranges.find(({ first, last }) => first <= port && port <= last);
}
