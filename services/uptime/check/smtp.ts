import type { Socket } from 'node:net';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { connectTo, secure, type TlsWishes } from './connect.ts';
import { CheckFailure } from './failure.ts';
import type { Found, ProbeOrder } from './probe.ts';

const longestReply = 16_384;

/**
 * Checks that an SMTP server sends a greeting and encrypts as `smtpSecurity` says: `secure` from the start, `starttls`
 * after the greeting.
 */
export async function probeSmtp(order: ProbeOrder): Promise<Found> {
  const { config, signal } = order;
  const security = config['smtpSecurity'];
  const host = config.hostname ?? '';
  const port = config.port ?? (security === 'secure' ? 465 : 25);
  const socket = await connectTo({ host, port, signal, tls: security === 'secure' ? tlsWishes(order) : undefined });
  try {
    const greeting = await reply(socket, signal);
    if (!greeting.startsWith('220')) throw new CheckFailure(`The server greets with ${greeting.slice(0, 100)}`);
    if (security === 'starttls') await startTls(socket, host, order);
    else socket.end('QUIT\r\n');
    return { status: heartbeatStatus.up, msg: 'SMTP connection verifies successfully' };
  } finally {
    socket.destroySoon();
  }
}

/** Waits for the unencrypted greeting, then upgrades the connection with STARTTLS. */
export async function greetAndStartTls(socket: Socket, host: string, order: ProbeOrder): Promise<void> {
  const greeting = await reply(socket, order.signal);
  if (!greeting.startsWith('220')) throw new CheckFailure(`The server greets with ${greeting.slice(0, 100)}`);
  await startTls(socket, host, order);
}

async function startTls(socket: Socket, host: string, order: ProbeOrder): Promise<void> {
  const { signal } = order;
  socket.write('EHLO homeport\r\n');
  const offers = await reply(socket, signal);
  if (!/^250[ -]STARTTLS\s*$/im.test(offers)) throw new CheckFailure('The server does not offer STARTTLS');
  socket.write('STARTTLS\r\n');
  const answer = await reply(socket, signal);
  if (!answer.startsWith('220')) throw new CheckFailure(`The server answers STARTTLS with ${answer.slice(0, 100)}`);
  const secured = await secure(socket, host.replace(/^\[|\]$/g, ''), tlsWishes(order), signal);
  secured.end('QUIT\r\n');
}

export function tlsWishes({ config, onChain }: ProbeOrder): TlsWishes {
  return { ignoreTls: config.ignoreTls === true, ca: config.tlsCa || undefined, onChain };
}

/** Reads a reply including its continuation lines. */
function reply(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (call: () => void): void => {
      signal.removeEventListener('abort', abort);
      socket.off('data', take).off('error', fail).off('close', close);
      call();
    };
    const abort = (): void => end(() => reject(signal.reason instanceof Error ? signal.reason : new Error('given up')));
    const fail = (error: Error): void => end(() => reject(error));
    const close = (): void => end(() => reject(new CheckFailure('The server hung up without a greeting')));
    const take = (bytes: Buffer): void => {
      text += bytes.toString('latin1');
      if (/^\d{3}(?: [^\n]*)?\r?\n$/m.test(text)) end(() => resolve(text.trim()));
      else if (text.length > longestReply) end(() => reject(new CheckFailure('The greeting has no end')));
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.on('data', take).once('error', fail).once('close', close);
  });
}
