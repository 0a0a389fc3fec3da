import * as texts from '#messages/gateway-texts';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GatewayState, SelfTest, SharedPort } from '../../../services/contracts/gateway/api.ts';
import { defineService, type Context } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { mail } from '../../../services/mail/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { freePort } from '../../support/free-port.ts';
import { lan, openHome, phoneAddress, readPlainly, type Home } from '../../support/gateway/phone.ts';
import { harbour } from '../../support/harbour-service/index.ts';
import { adminAuthorization } from '../../support/host.ts';

const otherAddress = '127.0.0.4';
const otherPhone = '127.0.0.5';

let context: Context;
/** TCP service that sends first, reports the client's address, repeats received data, and fails on request. */
const radio = defineService({
  ...{ id: 'radio', title: 'Radio', summary: 'For tests.', settings: z.object({}), environment: {}, migrations: [] },
  listeners: [
    { name: 'air', title: 'Radio', protocol: 'tcp', scheme: 'radio', port: 0, whenShared: 'Anybody may listen.' },
  ],
  create(argument) {
    context = argument;
    const open = new Set<Socket>();
    return {
      tcp(socket) {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
        if (socket.remoteAddress === '127.0.0.9') throw new Error('It cannot take this one.');
        socket.write(`hello ${socket.remoteAddress ?? ''}\n`);
        socket.on('data', (data: Buffer) => socket.write(data));
      },
      start: () => Promise.resolve(),
      health: () => Promise.resolve({ state: 'up', detail: 'on air' }),
      async [Symbol.asyncDispose]() {
        for (const socket of open) socket.end('closing down\n');
      },
    };
  },
});
const services = [radio, harbour, control, gateway];

let home: Home;
const open = async (settings: Readonly<Record<string, unknown>> = {}, overrides: object = {}): Promise<Home> =>
  (home = await openHome({ services, settings: { sharedPorts: ['radio'], ...settings }, ...overrides }));
afterEach(() => home[Symbol.asyncDispose]());

interface Line {
  readonly socket: Socket;
  /** Data that was received until the end. */
  readonly ended: Promise<string>;
  /** Data that was received first. */
  readonly greeting: string;
}

/** Opens a connection from another computer. */
async function dial({ at = lan, from = phoneAddress, port = home.host.port('radio') } = {}): Promise<Line> {
  const socket = connect({ host: at, port, localAddress: from });
  await once(socket, 'connect');
  let received = '';
  const first = Promise.withResolvers<void>();
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
    if (received.includes('\n')) first.resolve();
  });
  socket.on('error', () => undefined);
  const ended = once(socket, 'close').then(() => received);
  await Promise.race([first.promise, ended]);
  return { socket, ended, greeting: received };
}

const getPort = async (id: string): Promise<SharedPort | undefined> =>
  (await home.state()).ports.find((port) => port.id === id);
/** Returns the value of the only metric with this name and outcome. */
const metric = async (name: string, outcome = ''): Promise<number> => {
  const headers = { Authorization: adminAuthorization };
  const page = await (await fetch(`${home.host.url('control')}/metrics`, { headers })).text();
  const lines = page.split('\n').filter((line) => line.startsWith(name) && line.includes(outcome));
  expect(lines).toHaveLength(1);
  return Number(lines[0]?.split(' ').at(-1));
};

describe('shared TCP port', () => {
  it('accepts other computers only while it is shared', async () => {
    await open({ sharedPorts: [] });
    expect(await getPort('radio')).toEqual({
      ...{ id: 'radio', service: 'radio', title: 'Radio', meaning: 'Anybody may listen.' },
      ...{ shared: false, running: true, addresses: [] },
    });
    await expect(dial()).rejects.toThrow('ECONNREFUSED');
    await home.change({ sharedPorts: ['radio'] });
    const url = `radio://${lan}:${String(home.host.port('radio'))}`;
    expect(await getPort('radio')).toMatchObject({ shared: true, addresses: [url] });
    expect(await api(home.host.url('control'), '/api/gateway/addresses')).toEqual({
      ...{ trustUrl: null, services: [], ports: [{ id: 'radio', url }] },
    });
    // The address is listed, because requests that other accounts cause must not reach it.
    expect(context.addresses()).toContain(`tcp://${lan}:${String(home.host.port('radio'))}`);
    const { greeting, socket, ended } = await dial();
    expect(greeting).toBe(`hello ${phoneAddress}\n`);
    socket.write('over\n');
    await once(socket, 'data');
    expect(await metric('gateway_connections_open')).toBe(1);
    await home.change({ sharedPorts: [] });
    expect(await ended).toBe(`hello ${phoneAddress}\nover\n`);
    await expect(dial()).rejects.toThrow('ECONNREFUSED');
    expect(await metric('gateway_connections_open')).toBe(0);
    expect(await metric('gateway_connections_total', 'outcome="passed"')).toBe(1);
  });

  it('shares any listener that a manifest declares', async () => {
    await open({ sharedPorts: ['harbour.radio'] });
    const port = home.host.port('harbour.radio');
    expect(await getPort('harbour.radio')).toMatchObject({
      ...{ service: 'harbour', title: 'Radio', meaning: '', addresses: [`radio://${lan}:${String(port)}`] },
    });
    expect(await text(connect({ host: lan, port, localAddress: phoneAddress }))).toBe('ahoy\r\n');
    // The web pages are not affected.
    const { services: shared, certificate } = await home.state();
    expect(shared.find(({ id }) => id === 'harbour')).toMatchObject({ exposure: 'off', addresses: [] });
    expect(certificate).toBeNull();
    await expect(dial({ port: home.host.port('harbour') })).rejects.toThrow('ECONNREFUSED');
  });

  it('closes connections of unadmitted networks and counts them', async () => {
    await open({ portNetworks: [`${otherPhone}/32`] });
    const { greeting, ended } = await dial();
    expect([greeting, await ended]).toEqual(['', '']);
    expect((await dial({ from: otherPhone })).greeting).toBe(`hello ${otherPhone}\n`);
    expect(await metric('gateway_connections_total', 'outcome="refused"')).toBe(1);
    const { visitors, checks } = await test();
    expect(checks.at(-1)).toEqual({
      ...{ ok: false, maybeMeant: true },
      text: texts.testDeviceRejectedAtPort({ address: phoneAddress, title: 'Radio' }),
    });
    expect(visitors.map(({ address, port, letIn }) => [address, port, letIn])).toEqual([
      [otherPhone, 'radio', true],
      [phoneAddress, 'radio', false],
    ]);
    // Clients outside of the gateway's networks are not admitted, even if the networks of the port contain them.
    await home.change({ networks: ['192.0.2.0/24'] });
    expect((await dial({ from: otherPhone })).greeting).toBe('');
  });

  it('counts admissions per port and ignores this computer', async () => {
    await open({ portNetworks: [`${otherPhone}/32`], shared: ['harbour'], addresses: [lan] });
    await dial();
    // Loads the certificate as a device does.
    await readPlainly((await home.state()).trustUrl ?? '');
    await test();
    await home.change({ addresses: ['127.0.0.6'] });
    const { visitors, checks } = await test();
    expect(visitors.map(({ address, port, letIn }) => [address, port, letIn])).toEqual([
      [phoneAddress, null, true],
      [phoneAddress, 'radio', false],
    ]);
    expect(checks.slice(-2).map(({ ok }) => ok)).toEqual([true, false]);
  });

  it('ends only connections of a network that is no longer admitted', async () => {
    await open();
    const [away, connection] = [await dial(), await dial({ from: otherPhone })];
    await home.change({ portNetworks: [otherPhone] });
    await away.ended;
    connection.socket.write('still here\n');
    expect(await once(connection.socket, 'data')).toEqual(['still here\n']);
    expect((await home.state()).portNetworks).toEqual([otherPhone]);
  });

  it('opens the remaining addresses when a port is in use, and retries', async () => {
    const clock = createFakeClock(Date.now());
    await open({ sharedPorts: [], addresses: [lan, otherAddress] }, { clock });
    const port = home.host.port('radio');
    const occupied = createServer().listen(port, lan);
    await once(occupied, 'listening');
    await home.change({ sharedPorts: ['radio'] });
    expect((await dial({ at: otherAddress })).greeting).toBe(`hello ${phoneAddress}\n`);
    expect(await getPort('radio')).toMatchObject({ addresses: [`radio://${otherAddress}:${String(port)}`] });
    expect((await home.state()).problems).toEqual([
      expect.stringContaining(`${lan}: Port ${String(port)} is already in use`),
    ]);
    expect((await test()).checks).toContainEqual({
      ...{ ok: false, text: texts.testPortFails({ title: 'Radio', address: lan, reason: texts.reasonPortNotOpen() }) },
    });
    occupied.close();
    await once(occupied, 'close');
    clock.advance(10_000);
    await vi.waitFor(async () => expect((await home.state()).problems).toEqual([]), { timeout: 20_000 });
    expect((await dial()).greeting).toBe(`hello ${phoneAddress}\n`);
    expect((await test()).checks.map(({ ok }) => ok)).not.toContain(false);
  });

  it('follows address changes without interrupting unchanged addresses', async () => {
    await open({ addresses: [lan, otherAddress] });
    const connection = await dial();
    expect((await dial({ at: otherAddress })).greeting).toContain('hello');
    await home.change({ addresses: [lan] });
    await expect(dial({ at: otherAddress })).rejects.toThrow('ECONNREFUSED');
    await home.change({ addresses: [lan, otherAddress] });
    expect((await dial({ at: otherAddress })).greeting).toContain('hello');
    connection.socket.write('still here\n');
    expect(await once(connection.socket, 'data')).toEqual(['still here\n']);
  });

  it('ends idle mail connections when the gateway is disabled and completes active ones', async () => {
    home = await openHome({ services: [mail, notify, control, gateway], settings: { sharedPorts: ['mail'] } });
    const port = home.host.port('mail');
    const idle = await dial({ port });
    const busy = await dial({ port, from: otherPhone });
    const expectReply = async (line: string, answer: RegExp): Promise<void> => {
      const answered = once(busy.socket, 'data');
      busy.socket.write(line);
      expect(String((await answered)[0])).toMatch(answer);
    };
    await expectReply('EHLO nas\r\n', /^250/);
    await expectReply('MAIL FROM:<nas@home>\r\n', /^250/);
    await expectReply('RCPT TO:<alerts@home>\r\n', /^250/);
    await expectReply('DATA\r\n', /^354/);
    const off = api(home.host.url('control'), '/api/settings/gateway', {
      ...{ method: 'PATCH', body: JSON.stringify({ enabled: false }) },
    });
    expect(await idle.ended).toMatch(/^220 .*\r\n421 /);
    busy.socket.write('Subject: Last words\r\n\r\nGood night.\r\n.\r\n');
    expect(await busy.ended).toMatch(/\r\n250 .*queued as .*\r\n421 /);
    await off;
  });

  it('closes while its service is disabled and reopens with it', async () => {
    await open({}, { environment: { HOMEPORT_PORT_RADIO: String(await freePort()) } });
    const { ended } = await dial();
    const turn = (enabled: boolean): Promise<unknown> =>
      api(home.host.url('control'), '/api/settings/radio', { method: 'PATCH', body: JSON.stringify({ enabled }) });
    const port = home.host.port('radio');
    await turn(false);
    expect(await ended).toBe(`hello ${phoneAddress}\nclosing down\n`);
    await vi.waitFor(() => expect(dial({ port })).rejects.toThrow('ECONNREFUSED'), { timeout: 20_000 });
    expect(await getPort('radio')).toMatchObject({ shared: true, running: false, addresses: [] });
    expect((await test()).checks).toContainEqual({ ok: false, text: texts.testNotRunning({ title: 'Radio' }) });
    await turn(true);
    await vi.waitFor(async () => expect((await dial()).greeting).toBe(`hello ${phoneAddress}\n`), { timeout: 20_000 });
  });

  it('keeps serving when the service fails on one connection', async () => {
    await open();
    const connection = await dial();
    const { ended } = await dial({ from: '127.0.0.9' });
    expect(await ended).toBe('');
    connection.socket.write('still here\n');
    expect(await once(connection.socket, 'data')).toEqual(['still here\n']);
    expect((await dial()).greeting).toContain('hello');
  });

  it('limits connections per computer', async () => {
    await open();
    const lines = await Promise.all(Array.from({ length: 20 }, () => dial()));
    expect(await (await dial()).ended).toBe('');
    expect(await metric('gateway_connections_total', 'refused')).toBe(1);
    const refusals = home.host.log.filter((line) => line.includes('event=rate_limited '));
    expect(refusals).toEqual([expect.stringContaining(`address=${phoneAddress} target=gateway`)]);
    expect((await dial({ from: otherPhone })).greeting).toBe(`hello ${otherPhone}\n`);
    lines[0]?.socket.destroy();
    await vi.waitFor(async () => expect((await dial()).greeting).toBe(`hello ${phoneAddress}\n`));
  });

  it('handles two thousand idle connections', async () => {
    await open();
    const all: Line[] = [];
    const machines = Array.from({ length: 100 }, (_, index) => `127.0.1.${String(index + 1)}`);
    for (let round = 0; round < 20; round += 1) {
      all.push(...(await Promise.all(machines.map((from) => dial({ from })))));
    }
    expect(new Set(all.map(({ greeting }) => greeting))).toEqual(new Set(machines.map((from) => `hello ${from}\n`)));
    expect(await metric('gateway_connections_open')).toBe(2000);
    await home.change({ sharedPorts: [] });
    await Promise.all(all.map(({ ended }) => ended));
    expect(await metric('gateway_connections_open')).toBe(0);
  });
});

describe('shared port settings', () => {
  beforeEach(() => open());

  it('accepts only names of ports and networks', async () => {
    await expect(home.change({ sharedPorts: ['Mail!'] })).rejects.toThrow('Use a port name');
    await expect(home.change({ portNetworks: ['home'] })).rejects.toThrow('Use an address or a network');
    // A port that does not exist or serves HTTP cannot be shared.
    await home.change({ sharedPorts: ['radio', 'harbour', 'nobody'] });
    const { ports } = await api<GatewayState>(home.host.url('control'), '/api/gateway');
    expect(ports.map(({ id, shared }) => [id, shared])).toEqual([
      ['radio', true],
      ['harbour.radio', false],
    ]);
    await expect(dial({ port: home.host.port('harbour') })).rejects.toThrow('ECONNREFUSED');
  });
});

function test(): Promise<SelfTest> {
  return api<SelfTest>(home.host.url('control'), '/api/gateway/test', { method: 'POST' });
}
