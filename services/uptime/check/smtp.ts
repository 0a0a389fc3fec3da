import type { Socket } from 'node:net';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { openConnection, encryptConnection, type TlsOptions } from './connect.ts';
import { createTargetFailure } from './failure.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';

const maxReplyLength = 16_384;

/**
 * Checks that an SMTP server sends a greeting and encrypts as `smtpSecurity` says: `secure` from the start, `starttls`
 * after the greeting.
 */
export async function probeSmtp(context: CheckContext): Promise<CheckOutcome> {
  const { config, signal } = context;
  const security = config['smtpSecurity'];
  const host = config.hostname ?? '';
  const port = config.port ?? (security === 'secure' ? 465 : 25);
  const socket = await openConnection({
    host,
    port,
    signal,
    tls: security === 'secure' ? getTlsOptions(context) : undefined,
  });
  try {
    const greeting = await readReply(socket, signal);
    if (!greeting.startsWith('220'))
      throw createTargetFailure('greeting_unexpected', { greeting: greeting.slice(0, 100) });
    if (security === 'starttls') await upgradeToTls(socket, host, context);
    else socket.end('QUIT\r\n');
    return { status: heartbeatStatus.up, msg: 'SMTP connection verifies successfully' };
  } finally {
    socket.destroySoon();
  }
}

/** Waits for the unencrypted greeting, then upgrades the connection with STARTTLS. */
export async function greetAndStartTls(socket: Socket, host: string, context: CheckContext): Promise<void> {
  const greeting = await readReply(socket, context.signal);
  if (!greeting.startsWith('220'))
    throw createTargetFailure('greeting_unexpected', { greeting: greeting.slice(0, 100) });
  await upgradeToTls(socket, host, context);
}

async function upgradeToTls(socket: Socket, host: string, context: CheckContext): Promise<void> {
  const { signal } = context;
  socket.write('EHLO homeport\r\n');
  const capabilities = await readReply(socket, signal);
  if (!/^250[ -]STARTTLS\s*$/im.test(capabilities)) throw createTargetFailure('no_starttls', {});
  socket.write('STARTTLS\r\n');
  const answer = await readReply(socket, signal);
  if (!answer.startsWith('220')) throw createTargetFailure('starttls_refused', { answer: answer.slice(0, 100) });
  const secured = await encryptConnection(socket, host.replace(/^\[|\]$/g, ''), getTlsOptions(context), signal);
  secured.end('QUIT\r\n');
}

export function getTlsOptions({ config, onChain }: CheckContext): TlsOptions {
  return { ignoreTls: config.ignoreTls === true, ca: config.tlsCa || undefined, onChain };
}

/** Reads a reply including its continuation lines. */
function readReply(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (call: () => void): void => {
      signal.removeEventListener('abort', abort);
      socket.off('data', handleData).off('error', fail).off('close', close);
      call();
    };
    const abort = (): void =>
      settle(() => reject(signal.reason instanceof Error ? signal.reason : new Error('given up')));
    const fail = (error: Error): void => settle(() => reject(error));
    const close = (): void => settle(() => reject(createTargetFailure('no_greeting', {})));
    const handleData = (bytes: Buffer): void => {
      text += bytes.toString('latin1');
      if (/^\d{3}(?: [^\n]*)?\r?\n$/m.test(text)) settle(() => resolve(text.trim()));
      else if (text.length > maxReplyLength) settle(() => reject(createTargetFailure('endless_greeting', {})));
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.on('data', handleData).once('error', fail).once('close', close);
  });
}
