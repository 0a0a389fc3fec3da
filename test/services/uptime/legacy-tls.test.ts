import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, openUptime, type UptimeRig } from './rig.ts';

/** Prefixes a TLS record with its header: content type, TLS 1.2, length. */
const toRecord = (type: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type, 3, 3, body.length >> 8, body.length & 0xff]), body]);

/**
 * ServerHello of TLS 1.2 with ECDHE-RSA-AES128-GCM-SHA256 and without extensions. It lacks `renegotiation_info`
 * (RFC 5746), as those of old appliances do.
 */
const serverHello = ((): Buffer => {
  const body = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32, 7), Buffer.from([0, 0xc0, 0x2f, 0])]);
  return toRecord(22, Buffer.concat([Buffer.from([2, 0, 0, body.length]), body]));
})();
/** Fatal alert `handshake_failure`, which ends the handshake of a client that accepted the ServerHello. */
const alert = toRecord(21, Buffer.from([2, 40]));

describe('monitor of a server without secure renegotiation', () => {
  let rig: UptimeRig;
  beforeAll(async () => {
    rig = await openUptime();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it.each([
    ['http', (port: number) => ({ type: 'http', url: `https://127.0.0.1:${String(port)}/` })],
    ['keyword', (port: number) => ({ type: 'keyword', url: `https://127.0.0.1:${String(port)}/`, keyword: 'x' })],
    ['smtp', (port: number) => ({ type: 'smtp', hostname: '127.0.0.1', port, smtpSecurity: 'secure' })],
  ])('continues the handshake: %s', async (_case, toMonitor) => {
    const server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([serverHello, alert])));
    });
    const port = await listen(server);
    const { id } = await rig.add({ name: 'old', interval: 3600, timeout: 20, ignoreTls: true, ...toMonitor(port) });
    const { msg } = await rig.until(id, 0);
    // OpenSSL rejects such a server with "unsafe legacy renegotiation disabled" unless the client allows it.
    expect(msg).toMatch(/handshake failure/i);
    expect(msg).not.toMatch(/renegotiation/i);
    server.close();
  });
});
