import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../../../main/host/http/limits.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { dial, everything, open, type Opened } from './raw.ts';

const limits = { ...defaultLimits, headersTimeoutMs: 300, bodyStallMs: 300, keepAliveMs: 300 };
const listening = (): Promise<Opened> =>
  open({ certificate: makeSelfSigned(), http2: true, limits, handler: { http: (request) => void request.resume() } });

async function dialTls(port: number, protocol: 'h2' | 'http/1.1'): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  await once(socket, 'secureConnect');
  return socket.on('error', () => undefined);
}

describe('who is slow on purpose, by TLS', () => {
  test('is cut off without a handshake', async () => {
    await using opened = await listening();
    expect(await everything(await dial(opened.listener.port))).toBe('');
  });

  test('is cut off in the middle of the headers of HTTP/1.1', async () => {
    await using opened = await listening();
    const socket = await dialTls(opened.listener.port, 'http/1.1');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const drip = setInterval(() => socket.write('x'), 20);
    expect(await everything(socket)).toContain('408');
    clearInterval(drip);
  });

  test('is cut off in the middle of the headers of HTTP/2', async () => {
    await using opened = await listening();
    const socket = await dialTls(opened.listener.port, 'h2');
    // SETTINGS, then a head that is never ended: each byte of it in a CONTINUATION of its own.
    const frame = (type: number, stream: number, payload = ''): Buffer => {
      const head = Buffer.from([0, 0, payload.length, type, 0, 0, 0, 0, stream]);
      return Buffer.concat([head, Buffer.from(payload, 'latin1')]);
    };
    socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0), frame(1, 1, '\x82')]));
    const drip = setInterval(() => socket.write(frame(9, 1, '\x84')), 20);
    await everything(socket);
    clearInterval(drip);
  });

  test('is cut off in the middle of a body of HTTP/2, while another request goes on', async () => {
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
});
