import type { Children } from '../../contracts/children.ts';
import { Problem } from '../../contracts/problem.ts';
import { beatStatus, type MonitorConfig } from '../../contracts/uptime/monitor.ts';
import type { Outcome } from '../domain/judge.ts';

/** One echo by the system's own program, which may do what we may not. */
export async function pingHost(
  children: Children,
  { hostname }: MonitorConfig,
  timeoutMs: number,
): Promise<Omit<Outcome, 'at'> & { readonly unreachable?: boolean }> {
  const seconds = String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  const limit = AbortSignal.timeout(timeoutMs + 1000);
  try {
    await using child = await children.start({
      name: 'ping',
      file: 'ping',
      args: ['-n', '-c', '1', '-W', seconds, '--', hostname ?? ''],
      shortLived: true,
      signal: limit,
    });
    const [text, trouble, { code }] = await Promise.all([read(child.stdout), read(child.stderr), child.exited]);
    const ms = /time[=<]([\d.]+)/.exec(text)?.[1];
    if (code === 0 && ms !== undefined) return { status: beatStatus.up, msg: '', ping: Math.round(Number(ms)) };
    const words = trouble.trim().split('\n')[0] || `no answer within ${seconds} s`;
    return { status: beatStatus.down, msg: words.slice(0, 500), ping: null, unreachable: true };
  } catch (error) {
    const words = error instanceof Problem ? error.detail : `timeout of ${String(timeoutMs)}ms exceeded`;
    return { status: beatStatus.down, msg: words, ping: null };
  }
}

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const part of stream) if (text.length < 10_000) text += part.toString('utf8');
  return text;
}
