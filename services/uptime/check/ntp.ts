import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { heartbeatStatus } from '../../contracts/uptime/monitor.ts';
import { createTargetFailure } from './failure.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import { assertAllowedTarget } from './target-policy.ts';

/** Seconds between the NTP epoch (1900) and the Unix epoch (1970). */
const epochSeconds = 2_208_988_800;
const packetLength = 48;

/** Checks that an NTP server responds with acceptable stratum, offset and root dispersion (RFC 5905). */
export async function probeNtp({ config, signal }: CheckContext): Promise<CheckOutcome> {
  const getLimit = (name: string, defaultValue: number): number => Number(config[name] ?? defaultValue);
  const { address, family } = await lookup(config.hostname ?? '');
  signal.throwIfAborted();
  assertAllowedTarget(address, config.port ?? 123, 'exchange');
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  const { promise, resolve, reject } = Promise.withResolvers<{ reply: Buffer; at: number }>();
  // A rejection before the first `await` would otherwise end the process.
  promise.catch(() => undefined);
  const abort = (): void => reject(signal.reason instanceof Error ? signal.reason : new Error('given up'));
  signal.addEventListener('abort', abort, { once: true });
  socket.on('error', reject);
  const request = Buffer.alloc(packetLength);
  // NTP version 4, client mode. The random transmit timestamp is echoed by the server and identifies the reply.
  request[0] = 0x23;
  crypto.getRandomValues(request.subarray(40));
  socket.on('message', (reply) => {
    if (reply.length >= packetLength && reply.subarray(24, 32).equals(request.subarray(40)))
      resolve({ reply, at: Date.now() });
  });
  try {
    socket.connect(config.port ?? 123, address);
    await Promise.race([new Promise<void>((connected) => socket.once('connect', connected)), promise]);
    const sentAt = Date.now();
    const startedAt = performance.now();
    socket.send(request);
    const { reply, at: receivedAt } = await promise;
    const ping = Math.round(performance.now() - startedAt);
    const stratum = reply.readUInt8(1);
    if (stratum === 0)
      throw createTargetFailure('ntp_refused', { reason: reply.toString('latin1', 12, 16).replaceAll(/[^\w]/g, '') });
    const offset = Math.round((readTimestamp(reply, 32) + readTimestamp(reply, 40) - sentAt - receivedAt) / 2);
    const dispersion = Math.round((reply.readUInt32BE(8) / 65_536) * 1000);
    const summary = `Stratum: ${String(stratum)}, offset: ${String(offset)} ms, root dispersion: ${String(dispersion)} ms`;
    const isUnreliable =
      reply.readUInt8(0) >> 6 === 3 ||
      stratum > getLimit('ntpStratumThreshold', 5) ||
      Math.abs(offset) > getLimit('ntpTimeOffsetThreshold', 1000) ||
      dispersion > getLimit('ntpRootDispersionThreshold', 500);
    if (isUnreliable) throw createTargetFailure('ntp_unreliable', { summary });
    return { status: heartbeatStatus.up, msg: summary, ping };
  } finally {
    signal.removeEventListener('abort', abort);
    socket.close();
  }
}

function readTimestamp(reply: Buffer, offset: number): number {
  return (reply.readUInt32BE(offset) - epochSeconds) * 1000 + (reply.readUInt32BE(offset + 4) / 2 ** 32) * 1000;
}
