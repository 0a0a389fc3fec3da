import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, openTarget, openUptime, type UptimeRig } from './rig.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

const chunk = Buffer.alloc(256 * 1024, 0x2b);

/** Opens a server that sends a greeting and then endless data. */
async function endless(greeting: (data: Buffer) => Buffer | undefined) {
  let sent = 0;
  const server = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    let isFlooding = false;
    const flood = (): void => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    socket.on('data', (data) => {
      const answer = greeting(data);
      if (answer !== undefined) socket.write(answer);
      if (isFlooding) return;
      isFlooding = true;
      socket.on('drain', flood);
      flood();
    });
  });
  const port = await listen(server);
  return { port, sent: () => sent, [Symbol.dispose]: () => void server.close() };
}

describe('monitor of a hostile server', () => {
  let rig: UptimeRig;
  beforeAll(async () => {
    rig = await openUptime();
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  const down = async (monitor: Record<string, unknown>): Promise<string> => {
    const { id } = await rig.add({ name: 'hostile', interval: 3600, timeout: 20, ...monitor });
    return (await rig.until(id, 0)).msg;
  };

  it.each([
    ['a row without end', Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x44, 0x7f, 0xff, 0xff, 0xf0, 0, 1])],
    ['a message of 2 GB', Buffer.from([0x52, 0x7f, 0xff, 0xff, 0xf0])],
  ])('ends a PostgreSQL check at %s', async (_case, greeting) => {
    using server = await endless(() => greeting);
    const url = `postgres://u:p@127.0.0.1:${String(server.port)}/x`;
    expect(await down({ type: 'postgres', databaseConnectionString: url })).toContain('is larger than 8 MiB');
    expect(server.sent()).toBeLessThan(400 * 1024 * 1024);
  });

  it('ends a PostgreSQL check at many small rows without end', async () => {
    // Answers the sign-in, describes one column, and then repeats complete rows of one byte.
    const row = Buffer.from([0x44, 0, 0, 0, 11, 0, 1, 0, 0, 0, 1, 0x31]);
    const rows = Buffer.concat(Array.from({ length: 20_000 }, () => row));
    const ready = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
    const column = Buffer.concat([Buffer.from([0x54, 0, 0, 0, 26, 0, 1, 0x61, 0]), Buffer.alloc(18)]);
    let starts = 0;
    let sent = 0;
    const server = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      const flood = (): void => {
        while (!socket.destroyed && socket.write(rows)) sent += rows.length;
        sent += rows.length;
      };
      socket.once('data', () => {
        socket.write(ready);
        socket.once('data', () => {
          starts += 1;
          socket.write(column);
          socket.on('drain', flood);
          flood();
        });
      });
    });
    const port = await listen(server);
    try {
      const url = `postgres://u:p@127.0.0.1:${String(port)}/x`;
      expect(await down({ type: 'postgres', databaseConnectionString: url })).toContain('is larger than 8 MiB');
      expect(starts).toBe(1);
      expect(sent).toBeLessThan(400 * 1024 * 1024);
    } finally {
      server.close();
    }
  });

  it('ends an MQTT check at a message of 256 MB', async () => {
    // A PUBLISH packet with the maximum length.
    using server = await endless((data) =>
      data[0] === 0x10 ? Buffer.from([0x20, 2, 0, 0, 0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0x61]) : undefined,
    );
    const mqtt = { type: 'mqtt', hostname: '127.0.0.1', port: server.port, mqttTopic: 'a' };
    expect(await down(mqtt)).toContain('is larger than 4 MiB');
  });

  it('ends an MQTT check at a message of 256 MB in many WebSocket frames', async () => {
    let sent = 0;
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mqtt' });
    await once(server, 'listening');
    server.on('connection', (socket) => {
      socket.on('error', () => undefined);
      const send = (): void => {
        if (socket.readyState !== socket.OPEN || sent > 200 * 1024 * 1024) return;
        sent += chunk.length;
        socket.send(chunk, send);
      };
      socket.once('message', () => {
        socket.send(Buffer.from([0x20, 2, 0, 0, 0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0x61]));
        send();
      });
    });
    const { port } = server.address() as AddressInfo;
    const mqtt = { type: 'mqtt', hostname: 'ws://127.0.0.1', port, mqttTopic: 'a', mqttWebsocketPath: '/mqtt' };
    expect(await down(mqtt)).toContain('is larger than 4 MiB');
    expect(sent).toBeLessThan(100 * 1024 * 1024);
    for (const client of server.clients) client.terminate();
    server.close();
  });

  it.each(['redis', 'smtp'])('ends a check of %s at an endless response', async (type) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      const flood = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', flood);
      flood();
    });
    const port = await listen(server);
    const target =
      type === 'redis'
        ? { databaseConnectionString: `redis://127.0.0.1:${String(port)}` }
        : { hostname: '127.0.0.1', port };
    expect(await down({ type, ...target })).toMatch(/not Redis|greeting of the server is too long/);
    server.close();
  });
});

describe.skipIf(process.platform === 'win32')('A connection string', () => {
  it('rejects files and sockets without delaying other monitors', async () => {
    await using rig = await openUptime();
    await using well = await openTarget();
    const folder = mkdtempSync(join(tmpdir(), 'homeport-fifo-'));
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    try {
      const strings = [
        ...['sslrootcert', 'sslcert', 'sslkey'].map((name) => `postgres://a:b@127.0.0.1:1/x?${name}=${fifo}`),
        `postgres://a:b@127.0.0.1:1/x?sslmode=verify-full&sslrootcert=/etc/passwd`,
        `postgres://a:b@127.0.0.1:1/x?host=${folder}`,
        `postgres://a:b@127.0.0.1:1/x?passfile=/etc/passwd`,
        `postgres://a:b@127.0.0.1:1/x?service=x`,
        `postgres://a:b@%2Ftmp%2Fsocket/x`,
      ];
      for (const databaseConnectionString of strings) {
        const postgres = { type: 'postgres', name: 'file', interval: 3600, upsideDown: true };
        const { id } = await rig.add({ ...postgres, databaseConnectionString });
        expect((await rig.until(id, 0)).msg).toMatch(/not supported|contains a file name|socket file/);
      }
      const { id: mqtt } = await rig.add({
        ...{ type: 'mqtt', name: 'socket', interval: 3600, timeout: 2, mqttTopic: 'a', port: 1 },
        hostname: `mqtt://127.0.0.1${fifo}`,
      });
      expect((await rig.until(mqtt, 0)).msg).toContain('ECONNREFUSED');
      const { id } = await rig.add({ type: 'http', name: 'well', url: well.url, interval: 1 });
      await rig.until(id, 1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
