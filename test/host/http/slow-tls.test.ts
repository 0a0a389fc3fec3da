import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../../main/host/http/limits.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { dial, readAll, open, type Opened } from './raw.ts';

const limits = { ...defaultLimits, headersTimeoutMs: 300, bodyStallMs: 300, keepAliveMs: 300 };
const listening = (http: RequestListener = (request) => void request.resume()): Promise<Opened> =>
  open({ certificate: makeSelfSigned(), http2: true, limits, handler: { http } });

async function dialTls(port: number, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  await once(socket, 'secureConnect');
  return socket.on('error', () => undefined);
}

describe('slow TLS client', () => {
  test('is disconnected without a handshake', async () => {
    await using opened = await listening();
    expect(await readAll(await dial(opened.listener.port))).toBe('');
  });

  test('is disconnected within HTTP/1.1 headers', async () => {
    await using opened = await listening();
    const socket = await dialTls(opened.listener.port, 'http/1.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const writeInterval = setInterval(() => socket.write('x'), 20);
    expect(await readAll(socket)).toContain('408');
    clearInterval(writeInterval);
  });

  test('is disconnected within HTTP/2 headers', async () => {
    await using opened = await listening();
    const socket = await dialTls(opened.listener.port, 'h2');
    // SETTINGS, then headers without end: each byte in its own CONTINUATION frame.
    const frame = (type: number, stream: number, payload = ''): Buffer => {
      const head = Buffer.from([0, 0, payload.length, type, 0, 0, 0, 0, stream]);
      return Buffer.concat([head, Buffer.from(payload, 'latin1')]);
    };
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0), frame(1, 1, '\x82')]));
    const writeInterval = setInterval(() => socket.write(frame(9, 1, '\x84')), 20);
    await readAll(socket);
    clearInterval(writeInterval);
  });

  test('is disconnected within an HTTP/2 body while another request continues', async () => {
    await using opened = await listening();
    const session = connectHttp2(`https://127.0.0.1:${opened.listener.port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    const waiting = session.request({ ':path': '/' });
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => undefined).write('x');
    await new Promise((resolve) => void stream.once('close', resolve));
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect(waiting.closed).toBe(false);
    session.destroy();
  });

  test('is disconnected only while the service waits for it', async () => {
    const received = Promise.withResolvers<string>();
    await using opened = await listening((request) => {
      const take = (part: Buffer): void => received.resolve(String(part));
      // More than twice the maximum pause of a body.
      setTimeout(() => request.on('data', take).on('error', () => undefined), 800);
    });
    const session = connectHttp2(`https://127.0.0.1:${opened.listener.port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    stream.on('error', () => undefined).write('x');
    const over = new Promise((resolve) => void stream.once('close', resolve));
    expect(await Promise.race([received.promise, over])).toBe('x');
    await over;
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    session.destroy();
  });
});
