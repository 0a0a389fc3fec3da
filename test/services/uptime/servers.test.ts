import { createSocket } from 'node:dgram';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { MonitorConfig } from '../../../services/contracts/uptime/monitor.ts';
import { probeMqtt } from '../../../services/uptime/check/mqtt.ts';
import { probeNtp } from '../../../services/uptime/check/ntp.ts';
import { listen, openUptime, type UptimeRig } from './rig.ts';

let rig: UptimeRig;
beforeAll(async () => {
  rig = await openUptime();
});
afterAll(() => rig[Symbol.asyncDispose]());

const hourly = { interval: 3600, timeout: 20 };

it('queries PostgreSQL read-only and hides the password', async () => {
  await using database = await openPostgresDatabase();
  const common = { type: 'postgres', ...hourly };
  const url = new URL(database.url);
  url.password = 'hush';
  const fine = await rig.add({ ...common, name: 'fine', databaseConnectionString: url.href });
  expect(await rig.until(fine.id, 1)).toMatchObject({ msg: 'Rows: 1', ping: expect.any(Number) });
  const rows = await rig.add({
    ...common,
    name: 'rows',
    databaseConnectionString: database.url,
    databaseQuery: 'select * from generate_series(1, 3)',
  });
  expect(await rig.until(rows.id, 1)).toMatchObject({ msg: 'Rows: 3' });
  const compared = async (databaseQuery: string, operator: string, value: string) => {
    const conditions = [{ type: 'expression', andOr: 'and', variable: 'result', operator, value }];
    const overrides = { name: 'compared', databaseConnectionString: database.url, databaseQuery, conditions };
    const added = await rig.add({ ...common, ...overrides });
    expect(added.state.problems).toBeUndefined();
    return added.id;
  };
  const holds = await compared('select 42', 'gt', '41');
  expect((await rig.until(holds, 1)).msg).toBe('Query did meet specified conditions');
  const fails = await compared('select 42', 'lt', '41');
  expect((await rig.until(fails, 0)).msg).toBe('Query result did not meet the specified conditions (42)');
  const several = await compared('select * from generate_series(1, 3)', 'gt', '0');
  expect((await rig.until(several, 0)).msg).toContain('several values');
  const empty = await compared('select 1 where false', 'gt', '0');
  expect((await rig.until(empty, 0)).msg).toContain('no value');
  const writes = await rig.add({
    ...common,
    name: 'writes',
    databaseConnectionString: database.url,
    databaseQuery: 'create table x (y int)',
  });
  expect((await rig.until(writes.id, 0)).msg).toContain('read-only');
  const slow = await rig.add({
    ...common,
    timeout: 1,
    name: 'slow',
    databaseConnectionString: database.url,
    databaseQuery: 'select pg_sleep(60)',
  });
  expect((await rig.until(slow.id, 0)).msg).toBe('timeout of 1000ms exceeded');
  const none = await rig.add({ ...common, name: 'none', databaseConnectionString: 'postgres://u:hush@127.0.0.1:1/x' });
  expect((await rig.until(none.id, 0)).msg).toContain('ECONNREFUSED');
  const text = JSON.stringify([await rig.call('GET', '/api/monitors'), rig.sent]) + rig.host.log.join();
  expect(text).toContain('127.0.0.1:1/x');
  expect(text).not.toContain('hush');
});

it('signs in to Redis and sends PING', async () => {
  const received: string[] = [];
  const server = createServer((socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (part) => {
      const topics = part
        .toString()
        .split('\r\n')
        .filter((_, index) => index % 2 === 0 && index > 0);
      received.push(part.toString());
      socket.write(
        topics.includes('wrong') ? '-WRONGPASS invalid username-password pair\r\n' : '+OK\r\n+OK\r\n+PONG\r\n',
      );
    });
  });
  const port = await listen(server);
  const other = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const otherPort = await listen(other);
  try {
    const add = (name: string, databaseConnectionString: string) =>
      rig.add({ type: 'redis', name, databaseConnectionString, ...hourly });
    const fine = await add('redis', `redis://ada:p%40ss@127.0.0.1:${String(port)}/2`);
    expect(await rig.until(fine.id, 1)).toMatchObject({ msg: 'PONG' });
    expect(received[0]).toBe(
      '*3\r\n$4\r\nAUTH\r\n$3\r\nada\r\n$4\r\np@ss\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n*1\r\n$4\r\nPING\r\n',
    );
    const wrong = await add('wrong', `redis://:wrong@127.0.0.1:${String(port)}`);
    expect((await rig.until(wrong.id, 0)).msg).toBe('WRONGPASS invalid username-password pair');
    const web = await add('web', `redis://127.0.0.1:${String(otherPort)}`);
    expect((await rig.until(web.id, 0)).msg).toBe('The server is not Redis');
  } finally {
    server.close();
    other.close();
  }
});

/** Returns the broker's response to a CONNECT or SUBSCRIBE packet. */
function answer(socket: Socket, packet: Buffer): void {
  const kind = (packet[0] ?? 0) >> 4;
  if (kind === 1) socket.write(Buffer.from([0x20, 2, 0, packet.includes('wrong') ? 4 : 0]));
  if (kind !== 8) return;
  const topic = packet.subarray(6, 6 + packet.readUInt16BE(4));
  socket.write(Buffer.from([0x90, 3, packet[2] ?? 0, packet[3] ?? 0, topic.equals(Buffer.from('secret')) ? 128 : 0]));
  if (topic.equals(Buffer.from('silent'))) return;
  // A filter matches several topics; the broker sends the topic of the message.
  const published = Buffer.from(topic.toString().replace('/#', '/pump').replace('+', 'garden'));
  const body = Buffer.concat([Buffer.from([0, published.length]), published, Buffer.from('{"state":"ok"}')]);
  socket.write(Buffer.concat([Buffer.from([0x30, body.length]), body]));
}

const condition = (variable: string, operator: string, value: string): object => {
  return { type: 'expression', andOr: 'and', variable, operator, value };
};

it('waits for a matching MQTT message', async () => {
  const server = createServer((socket) => {
    let remaining = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (part: Buffer) => {
      remaining = Buffer.concat([remaining, part]);
      for (let length = remaining[1] ?? 127; remaining.length >= 2 + length; length = remaining[1] ?? 127) {
        answer(socket, remaining.subarray(0, 2 + length));
        remaining = remaining.subarray(2 + length);
      }
    });
  });
  const port = await listen(server);
  try {
    const add = (name: string, overrides: object) =>
      rig.add({ type: 'mqtt', name, hostname: '127.0.0.1', port, ...hourly, ...overrides });
    const fine = await add('mqtt', {
      mqttTopic: 'home/pump',
      mqttSuccessMessage: 'ok',
      mqttUsername: 'a',
      mqttPassword: 'right',
    });
    expect(await rig.until(fine.id, 1)).toMatchObject({ msg: 'Topic: home/pump; Message: {"state":"ok"}' });
    for (const [mqttTopic, received] of [
      ['home/#', 'home/pump'],
      ['home/+/pump', 'home/garden/pump'],
    ] as const) {
      const filter = await add('filter', { mqttTopic, mqttSuccessMessage: 'ok' });
      expect((await rig.until(filter.id, 1)).msg).toBe(`Topic: ${received}; Message: {"state":"ok"}`);
      const mismatch = await add('filter', { mqttTopic, mqttSuccessMessage: 'no' });
      expect((await rig.until(mismatch.id, 0)).msg).toContain(`Topic: ${received}; Message: `);
      const byTopic = { mqttTopic, conditions: [condition('topic', 'equals', received)] };
      expect((await rig.until((await add('filter', byTopic)).id, 1)).msg).toContain(`Topic: ${received}`);
    }
    const json = await add('json', {
      mqttTopic: 'home/pump',
      mqttCheckType: 'json-query',
      jsonPath: 'state',
      expectedValue: 'off',
    });
    expect((await rig.until(json.id, 0)).msg).toContain('The value ok is not as expected');
    const compared = (variable: string, operator: string, value: string) =>
      add('compared', {
        mqttTopic: 'home/pump',
        jsonPath: 'state',
        conditions: [condition(variable, operator, value)],
      });
    const holds = [
      await compared('json_value', 'equals', 'ok'),
      await compared('topic', 'ends_with', '/pump'),
      await compared('message', 'contains', '"ok"'),
    ];
    for (const { id, state } of holds) {
      expect(state.problems).toBeUndefined();
      expect(await rig.until(id, 1)).toMatchObject({ msg: 'Topic: home/pump; Message: {"state":"ok"}' });
    }
    const fails = await compared('json_value', 'equals', 'off');
    expect((await rig.until(fails.id, 0)).msg).toContain('Conditions not met - Topic: home/pump');
    const unknown = await compared('record', 'equals', 'ok');
    expect((await rig.until(unknown.id, 0)).msg).toContain('unknown variable record');
    const wrong = await add('wrong', { mqttTopic: 'x', mqttUsername: 'a', mqttPassword: 'wrong' });
    expect((await rig.until(wrong.id, 0)).msg).toMatch(/bad username or password/i);
    const silent = await add('silent', { mqttTopic: 'silent', timeout: 0.5 });
    expect((await rig.until(silent.id, 0)).msg).toBe('timeout of 500ms exceeded');
    const refused = await add('refused', { mqttTopic: 'secret' });
    expect((await rig.until(refused.id, 0)).msg).toMatch(/refuse|Unspecified|granted/i);
  } finally {
    server.close();
  }
});

it('compares time and stratum of an NTP server', async () => {
  const clock = { stratum: 2, ahead: 0 };
  const server = createSocket('udp4');
  server.on('message', (question, { port, address }) => {
    const reply = Buffer.alloc(48);
    reply[0] = 0x24;
    reply[1] = clock.stratum;
    question.copy(reply, 24, 40, 48);
    for (const offset of [32, 40])
      reply.writeUInt32BE(Math.floor((Date.now() + clock.ahead) / 1000) + 2_208_988_800, offset);
    server.send(reply, port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address();
    const add = (name: string, overrides: object = {}) =>
      rig.add({
        type: 'ntp',
        name,
        hostname: '127.0.0.1',
        port,
        ...hourly,
        ntpTimeOffsetThreshold: 5000,
        ...overrides,
      });
    expect((await rig.until((await add('fine')).id, 1)).msg).toMatch(/^Stratum: 2, offset: -?\d+ ms/);
    clock.ahead = 60_000;
    expect((await rig.until((await add('wrong')).id, 0)).msg).toMatch(
      /^The time of the server is not reliable\. Stratum: 2, offset: (59|60)\d{3} ms/,
    );
    clock.ahead = 0;
    clock.stratum = 9;
    expect((await rig.until((await add('far')).id, 0)).msg).toContain('Stratum: 9');
    clock.stratum = 0;
    expect((await rig.until((await add('refuses')).id, 0)).msg).toContain('The server rejected the request');
  } finally {
    server.close();
  }
});

it('fails without a network and does not start after its timeout', async () => {
  // The system rejects packets to this address before a query is sent.
  const unreachable = await rig.add({ type: 'ntp', name: 'away', hostname: '255.255.255.255', port: 123, ...hourly });
  expect((await rig.until(unreachable.id, 0)).msg).toMatch(/connect|EACCES|EHOSTUNREACH|ENETUNREACH/);
  const unreachableAgain = await rig.add({
    type: 'ntp',
    name: 'again',
    hostname: '255.255.255.255',
    port: 123,
    ...hourly,
  });
  expect((await rig.until(unreachableAgain.id, 0)).msg).toMatch(/connect|EACCES|EHOSTUNREACH|ENETUNREACH/);
  for (const [probe, type] of [
    [probeNtp, 'ntp'],
    [probeMqtt, 'mqtt'],
  ] as const) {
    const config = MonitorConfig.parse({ name: 'late', type, hostname: '127.0.0.1', port: 9, mqttTopic: 'x' });
    const order = {
      id: 1,
      config,
      signal: AbortSignal.abort(new Error('over')),
      onChain: () => undefined,
      engine: () => undefined,
      proxies: new Map(),
    };
    await expect(probe(order)).rejects.toThrow('over');
  }
});
