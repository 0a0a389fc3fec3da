import type { Children } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import { heartbeatStatus, type MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { Outcome } from '../domain/judge.ts';

const maxEchoes = 100;
const maxPacketBytes = 65_507;

/** Pings a host with the program of the system, which has the required privileges. */
export async function pingHost(
  children: Children,
  config: MonitorConfig,
  timeoutMs: number,
): Promise<Omit<Outcome, 'at'> & { readonly unreachable?: boolean }> {
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  const timeoutSignal = AbortSignal.timeout(timeoutMs + 1000);
  try {
    await using child = await children.start({
      name: 'ping',
      file: 'ping',
      args: [...buildArguments(config, seconds), '--', config.hostname ?? ''],
      shortLived: true,
      signal: timeoutSignal,
    });
    const [text, errorText, { code }] = await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
    const times = [...text.matchAll(/time[=<]([\d.]+)/g)].map(([, ms]) => Number(ms));
    if (code === 0 && times.length > 0) {
      const average = times.reduce((sum, ms) => sum + ms, 0) / times.length;
      return { status: heartbeatStatus.up, msg: '', ping: Math.round(average) };
    }
    const message = errorText.trim().split('\n')[0] || `no answer within ${seconds} s`;
    return { status: heartbeatStatus.down, msg: message.slice(0, 500), ping: null, unreachable: true };
  } catch (error) {
    const message = error instanceof Problem ? error.detail : `timeout of ${String(timeoutMs)}ms exceeded`;
    return { status: heartbeatStatus.down, msg: message, ping: null };
  }
}

function buildArguments(config: MonitorConfig, seconds: string): readonly string[] {
  const getInteger = (field: string, min: number, max: number): number | undefined => {
    const value = Number(config[field] ?? Number.NaN);
    return Number.isInteger(value) && value >= min ? Math.min(value, max) : undefined;
  };
  const size = getInteger('packetSize', 1, maxPacketBytes);
  const family = config.ipFamily === 'ipv4' ? ['-4'] : config.ipFamily === 'ipv6' ? ['-6'] : [];
  return [
    ...['-n', '-c', String(getInteger('ping_count', 1, maxEchoes) ?? 1)],
    // Timeout of a single echo; the monitor's timeout applies to all of them.
    ...['-W', String(Math.min(getInteger('ping_per_request_timeout', 1, 300) ?? Number(seconds), Number(seconds)))],
    ...family,
    ...(size === undefined ? [] : ['-s', String(size)]),
  ];
}

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const part of stream) if (text.length < 10_000) text += part.toString('utf8');
  return text;
}
