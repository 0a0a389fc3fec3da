import { stateFailure } from '../check/failure.ts';
import type { Children } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import { heartbeatStatus, type MonitorConfig } from '../../contracts/uptime/monitor.ts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { buildPingCommand, isPingHost, parsePing, type PingOptions } from '../../kit/platform/ping.ts';
import type { Outcome } from '../domain/judge.ts';

const maxEchoes = 100;
const maxPacketBytes = 65_507;

/** Pings a host with the program of the system, which has the required privileges. */
export async function pingHost(
  children: Children,
  config: MonitorConfig,
  timeoutMs: number,
  platform: NodeJS.Platform = currentPlatform,
): Promise<Omit<Outcome, 'at'> & { readonly unreachable?: boolean }> {
  const options = toPingOptions(config, timeoutMs);
  const down = (message: Pick<Outcome, 'msg' | 'failure'>) => ({
    status: heartbeatStatus.down,
    ...message,
    ping: null,
  });
  if (!isPingHost(options.host, platform)) return down(stateFailure('host_invalid', { host: options.host }));
  const { file, args, environment } = buildPingCommand(options, platform);
  try {
    await using child = await children.start({
      ...{ name: 'ping', file, args, environment },
      shortLived: true,
      signal: AbortSignal.timeout(timeoutMs + 1000),
    });
    const [stdout, stderr, { code }] = await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
    const { times, message } = parsePing({ stdout, stderr, code }, platform);
    if (times.length > 0) {
      const average = times.reduce((sum, ms) => sum + ms, 0) / times.length;
      return { status: heartbeatStatus.up, msg: '', ping: Math.round(average) };
    }
    const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
    return { ...down(message === '' ? stateFailure('no_response', { seconds }) : { msg: message }), unreachable: true };
  } catch (error) {
    return down({ msg: error instanceof Problem ? error.message : `timeout of ${String(timeoutMs)}ms exceeded` });
  }
}

function toPingOptions(config: MonitorConfig, timeoutMs: number): PingOptions {
  const getInteger = (field: string, min: number, max: number): number | undefined => {
    const value = Number(config[field] ?? Number.NaN);
    return Number.isInteger(value) && value >= min ? Math.min(value, max) : undefined;
  };
  const maxMs = Math.max(1, Math.ceil(timeoutMs / 1000)) * 1000;
  const perRequest = getInteger('ping_per_request_timeout', 1, 300);
  return {
    host: config.hostname ?? '',
    count: getInteger('ping_count', 1, maxEchoes) ?? 1,
    // The monitor's timeout applies to all requests together.
    timeoutMs: perRequest === undefined ? maxMs : Math.min(perRequest * 1000, maxMs),
    size: getInteger('packetSize', 1, maxPacketBytes),
    family: config.ipFamily === 'ipv4' || config.ipFamily === 'ipv6' ? config.ipFamily : undefined,
  };
}

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const part of stream) if (text.length < 10_000) text += part.toString('utf8');
  return text;
}
