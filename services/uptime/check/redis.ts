import type { Socket } from 'node:net';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { openConnection } from './connect.ts';
import { CheckFailure, createSettingsFailure, createTargetFailure } from './failure.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';

const maxReplyLength = 16_384;

/** Sends PING to a Redis-compatible server: `redis://user:password@host:port/number`, or `rediss` with TLS. */
export async function probeRedis({ config, signal, onChain }: CheckContext): Promise<CheckOutcome> {
  const { databaseConnectionString: connectionString } = config;
  const url = URL.parse(typeof connectionString === 'string' ? connectionString : '');
  if (url === null || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    throw createSettingsFailure('redis_address_invalid', {});
  }
  const tls =
    url.protocol === 'rediss:'
      ? { ignoreTls: config.ignoreTls === true, ca: config.tlsCa || undefined, onChain }
      : undefined;
  const socket = await openConnection({ host: url.hostname, port: Number(url.port || 6379), signal, tls });
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    const number = url.pathname.slice(1);
    const commands = [
      ...(password === '' ? [] : [['AUTH', ...(user === '' ? [] : [user]), password]]),
      ...(number === '' ? [] : [['SELECT', number]]),
      ['PING'],
    ];
    socket.write(commands.map(encodeCommand).join(''));
    const replies = await readReplies(socket, commands.length, signal);
    const errorReply = replies.find((line) => line.startsWith('-'));
    if (errorReply !== undefined) throw new CheckFailure(errorReply.slice(1, 500));
    return { status: heartbeatStatus.up, msg: (replies.at(-1) ?? '').slice(1, 500) };
  } finally {
    socket.destroy();
  }
}

function encodeCommand(command: readonly string[]): string {
  return (
    `*${String(command.length)}\r\n` +
    `${command.map((argument) => `$${String(Buffer.byteLength(argument))}\r\n${argument}\r\n`).join('')}`
  );
}

/** Reads simple replies, one per line. */
function readReplies(socket: Socket, count: number, signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', reject);
    socket.on('close', () => reject(new CheckFailure('socket hang up')));
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1');
      const replies = text.split('\r\n').slice(0, -1);
      if (replies.some((line) => !/^[-+]/.test(line)) || text.length > maxReplyLength)
        reject(createTargetFailure('not_redis', {}));
      else if (replies.length >= count || replies.some((line) => line.startsWith('-'))) resolve(replies);
    });
  });
}
