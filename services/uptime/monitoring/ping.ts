import type { Children } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import { heartbeatStatus, type MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { Outcome } from '../domain/judge.ts';

const mostEchoes = 100;
const largestPacket = 65_507;

/** Pings a host with the program of the system, which has the required privileges. */
export async function pingHost(
  children: Children,
  config: MonitorConfig,
  timeoutMs: number,
): Promise<Omit<Outcome, 'at'> & { readonly unreachable?: boolean }> {
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  const limit = AbortSignal.timeout(timeoutMs + 1000);
  try {
    await using child = await children.start({
      name: 'ping',
      file: 'ping',
      args: [...options(config, seconds), '--', config.hostname ?? ''],
      shortLived: true,
      signal: limit,
    });
    const [text, trouble, { code }] = await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
    const times = [...text.matchAll(/time[=<]([\d.]+)/g)].map(([, ms]) => Number(ms));
    if (code === 0 && times.length > 0) {
      const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
      return { status: heartbeatStatus.up, msg: '', ping: Math.round(mean) };
    }
    const words = trouble.trim().split('\n')[0] || `no answer within ${seconds} s`;
    return { status: heartbeatStatus.down, msg: words.slice(0, 500), ping: null, unreachable: true };
  } catch (error) {
    const words = error instanceof Problem ? error.detail : `timeout of ${String(timeoutMs)}ms exceeded`;
    return { status: heartbeatStatus.down, msg: words, ping: null };
  }
}

function options(config: MonitorConfig, seconds: string): readonly string[] {
  const whole = (field: string, least: number, most: number): number | undefined => {
    const value = Number(config[field] ?? Number.NaN);
    return Number.isInteger(value) && value >= least ? Math.min(value, most) : undefined;
  };
  const size = whole('packetSize', 1, largestPacket);
  const family = config.ipFamily === 'ipv4' ? ['-4'] : config.ipFamily === 'ipv6' ? ['-6'] : [];
  return [
    ...['-n', '-c', String(whole('ping_count', 1, mostEchoes) ?? 1)],
    // Timeout of a single echo; the monitor's timeout applies to all of them.
    ...['-W', String(Math.min(whole('ping_per_request_timeout', 1, 300) ?? Number(seconds), Number(seconds)))],
    ...family,
    ...(size === undefined ? [] : ['-s', String(size)]),
  ];
}

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const part of stream) if (text.length < 10_000) text += part.toString('utf8');
  return text;
}
