import type { Socket } from 'node:net';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { connectTo } from './connect.ts';
import { CheckFailure, notChecked } from './failure.ts';
import type { Found, ProbeOrder } from './probe.ts';

const longestReply = 16_384;

/** Sends PING to a Redis-compatible server: `redis://user:password@host:port/number`, or `rediss` with TLS. */
export async function probeRedis({ config, signal, onChain }: ProbeOrder): Promise<Found> {
  const { databaseConnectionString: given } = config;
  const url = URL.parse(typeof given === 'string' ? given : '');
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw notChecked('The connection string begins with redis:// or rediss://');
  }
  const tls =
    url.protocol === 'rediss:'
      ? { ignoreTls: config.ignoreTls === true, ca: config.tlsCa || undefined, onChain }
      : undefined;
  const socket = await connectTo({ host: url.hostname, port: Number(url.port || 6379), signal, tls });
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    const number = url.pathname.slice(1);
    const commands = [
      ...(password === '' ? [] : [['AUTH', ...(user === '' ? [] : [user]), password]]),
      ...(number === '' ? [] : [['SELECT', number]]),
      ['PING'],
    ];
    socket.write(commands.map(encoded).join(''));
    const replies = await lines(socket, commands.length, signal);
    const refused = replies.find((line) => line.startsWith('-'));
    if (refused !== undefined) throw new CheckFailure(refused.slice(1, 500));
    return { status: heartbeatStatus.up, msg: (replies.at(-1) ?? '').slice(1, 500) };
  } finally {
    socket.destroy();
  }
}

function encoded(words: readonly string[]): string {
  return `*${String(words.length)}\r\n${words.map((word) => `$${String(Buffer.byteLength(word))}\r\n${word}\r\n`).join('')}`;
}

/** Reads simple replies, one per line. */
function lines(socket: Socket, count: number, signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', reject);
    socket.on('close', () => reject(new CheckFailure('socket hang up')));
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
      const found = text.split('\r\n').slice(0, -1);
      if (found.some((line) => !/^[-+]/.test(line)) || text.length > longestReply)
        reject(new CheckFailure('What answers is no Redis'));
      else if (found.length >= count || found.some((line) => line.startsWith('-'))) resolve(found);
    });
  });
}
