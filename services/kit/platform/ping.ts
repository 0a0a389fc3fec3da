import { isIPv6 } from 'node:net';
import { currentPlatform } from './current-platform.ts';

/** Echo requests to one host. */
export interface PingOptions {
  readonly host: string;
  readonly count: number;
  /** Time limit of each answer. */
  readonly timeoutMs: number;
  /** Bytes of data in each request; undefined for the default of the system. */
  readonly size: number | undefined;
  readonly family: 'ipv4' | 'ipv6' | undefined;
}

/** Program and arguments. */
export interface PingCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that make the output independent of the user's language. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Times in ms, none if no answer arrived. `message` is the reason in that case; empty when there is none. */
export interface PingResult {
  readonly times: readonly number[];
  readonly message: string;
}

/** Output of the program. */
interface PingOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Builds the command of the system's `ping`, whose options differ between systems. */
export function buildPingCommand(options: PingOptions, platform: NodeJS.Platform = currentPlatform): PingCommand {
  const { host, count } = options;
  if (platform === 'win32') return { file: 'ping', args: [...buildWindowsOptions(options), host], environment: {} };
  const environment = { LC_ALL: 'C' };
  const common = ['-n', '-c', String(count)];
  const size = options.size === undefined ? [] : ['-s', String(options.size)];
  if (platform === 'darwin') {
    // The program for IPv4 has no option for the family, and the one for IPv6 has no time limit.
    const isIpv6 = options.family === 'ipv6' || (options.family === undefined && isIPv6(host));
    return isIpv6
      ? { file: 'ping6', args: [...common, ...size, '--', host], environment }
      : { file: 'ping', args: [...common, '-W', String(options.timeoutMs), ...size, '--', host], environment };
  }
  const family = options.family === undefined ? [] : [options.family === 'ipv4' ? '-4' : '-6'];
  const seconds = String(Math.max(1, Math.ceil(options.timeoutMs / 1000)));
  return { file: 'ping', args: [...common, '-W', seconds, ...family, ...size, '--', host], environment };
}

function buildWindowsOptions({ count, timeoutMs, size, family }: PingOptions): readonly string[] {
  return [
    ...['-n', String(count), '-w', String(timeoutMs)],
    ...(family === undefined ? [] : [family === 'ipv4' ? '-4' : '-6']),
    ...(size === undefined ? [] : ['-l', String(size)]),
  ];
}

/**
 * Returns whether the host can be an argument. Windows has no mark for the end of options, which begin with `-` or
 * `/`.
 */
export function isPingHost(host: string, platform: NodeJS.Platform = currentPlatform): boolean {
  return platform !== 'win32' || !/^[-/]/.test(host);
}

/** Parses the output of the system's `ping`. */
export function parsePing(output: PingOutput, platform: NodeJS.Platform = currentPlatform): PingResult {
  const { stdout, stderr, code } = output;
  const lines = stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (platform === 'win32') {
    const times = lines.flatMap(parseWindowsReply);
    return times.length > 0 ? { times, message: '' } : { times, message: findWindowsReason(lines) };
  }
  const times = [...stdout.matchAll(/time[=<]([\d.]+)/g)].map(([, ms]) => Number(ms));
  return code === 0 && times.length > 0
    ? { times, message: '' }
    : { times: [], message: (stderr.trim().split('\n')[0] ?? '').slice(0, maxMessageLength) };
}

const maxMessageLength = 500;

/**
 * Parses one line of Windows, whose words and units are translated: `Antwort von 1.1.1.1: Bytes=32 Zeit=12ms TTL=56`.
 * Only answers have numbers directly after `=` or `<`: size, time and TTL for IPv4, the time alone for IPv6. A host
 * that a router reports as unreachable counts as an answer in the exit code, but has none of these numbers.
 */
function parseWindowsReply(line: string): readonly number[] {
  const numbers = [...line.matchAll(/[=<](\d+)/g)].map(([, number]) => Number(number));
  const time = numbers.length === 3 ? numbers[1] : numbers.length === 1 ? numbers[0] : undefined;
  return time === undefined ? [] : [time];
}

/**
 * Returns the sentence of Windows on why there was no answer: the only line for an unknown host, else the answer of a
 * router below the title; empty for a timeout. Its letters beyond ASCII are in the code page of the console and cannot
 * be read.
 */
function findWindowsReason(lines: readonly string[]): string {
  const [title = '', reply = ''] = lines;
  const reason = lines.length === 1 ? title : /\S: /.test(reply) ? reply : '';
  return /^[\u0020-\u007e]+$/.test(reason) ? reason.slice(0, maxMessageLength) : '';
}
