import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { decode, encode, type Answer, type Packet, type Question } from 'dns-packet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { freePort } from '../../support/free-port.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { lan, openHome, phoneAddress, type Home } from '../../support/gateway/phone.ts';

const services = [push, fixtureService('lamp'), control, gateway];
const group = '224.0.0.251';
const waitOptions = { timeout: 20_000, interval: 20 };

/** Another computer of the network that implements multicast DNS. */
interface Neighbour extends AsyncDisposable {
  /** Messages that other computers sent to the multicast group. */
  readonly packets: readonly Packet[];
  announce(packet: Packet): void;
  records(name: string): Answer[];
}

async function neighbour(port: number): Promise<Neighbour> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true });
  socket.bind(port, '0.0.0.0');
  await once(socket, 'listening');
  socket.addMembership(group, phoneAddress);
  socket.setMulticastInterface(phoneAddress);
  const packets: Packet[] = [];
  socket.on('message', (bytes, { address }) => {
    if (address !== phoneAddress) packets.push(decode(bytes));
  });
  return {
    packets,
    announce: (packet) => socket.send(encode(packet), port, group),
    records: (name) =>
      packets.flatMap(({ type, answers = [] }) =>
        type === 'response' ? answers.filter((entry) => entry.name === name) : [],
      ),
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Sends a unicast query to one computer, as simple resolvers do. */
async function ask(port: number, questions: Question[], signal?: AbortSignal): Promise<Packet> {
  const socket: Socket = createSocket('udp4');
  socket.bind(0, phoneAddress);
  await once(socket, 'listening');
  const queryInterval = setInterval(() => socket.send(encode({ type: 'query', id: 77, questions }), port, lan), 200);
  try {
    const [bytes] = (await once(socket, 'message', signal === undefined ? {} : { signal })) as [Buffer];
    return decode(bytes);
  } finally {
    clearInterval(queryInterval);
    socket.close();
  }
}

let port: number;
let around: Neighbour;
let home: Home | undefined;
beforeEach(async () => {
  port = await freePort();
  around = await neighbour(port);
});
afterEach(async () => {
  await home?.[Symbol.asyncDispose]();
  home = undefined;
  await around[Symbol.asyncDispose]();
});

async function open(shared: readonly string[] = ['push']): Promise<Home> {
  const environment = { GATEWAY_ANNOUNCE: 'true', GATEWAY_MDNS_PORT: String(port) };
  return openHome({ services, environment, settings: { shared } });
}
const announced = (home: Home, names: readonly string[]): Promise<void> =>
  vi.waitFor(async () => expect((await home.state()).announced).toEqual(names), waitOptions);

describe('multicast DNS names', () => {
  it('probes names and then announces them with their services', async () => {
    home = await open();
    await announced(home, ['nas.local', 'push.nas.local']);
    const isProbe = ({ type, questions = [], authorities = [] }: Packet): boolean =>
      type === 'query' && questions.some(({ name }) => name === 'push.nas.local') && authorities.length > 0;
    expect(around.packets.filter(isProbe).length).toBeGreaterThanOrEqual(3);
    await vi.waitFor(
      () =>
        expect(around.records('push.nas.local')).toContainEqual(
          expect.objectContaining({ type: 'A', data: lan, flush: true }),
        ),
      waitOptions,
    );
    expect(around.records('_https._tcp.local')).toContainEqual(
      expect.objectContaining({ type: 'PTR', data: 'Messages on nas._https._tcp.local' }),
    );
    expect(around.records('Messages on nas._https._tcp.local')).toContainEqual(
      expect.objectContaining({
        type: 'SRV',
        data: expect.objectContaining({ target: 'push.nas.local', port: home.port }) as object,
      }),
    );
    expect(around.records('lamp.nas.local')).toEqual([]);
  });

  it('answers multicast queries, and legacy queries with their ID and question', async () => {
    home = await open();
    await announced(home, ['nas.local', 'push.nas.local']);
    const before = around.records('nas.local').length;
    around.announce({ type: 'query', questions: [{ name: 'NAS.local', type: 'A' }] });
    await vi.waitFor(() => expect(around.records('nas.local').length).toBeGreaterThan(before), waitOptions);
    const question: Question = { name: 'push.nas.local', type: 'A' };
    const response = await ask(port, [question]);
    expect(response).toMatchObject({ id: 77, type: 'response', questions: [question] });
    expect(response.answers).toEqual([
      expect.objectContaining({ name: 'push.nas.local', type: 'A', data: lan, ttl: 10 }),
    ]);
    // Missing record types are answered explicitly, so that clients do not wait.
    const none = await ask(port, [{ name: 'push.nas.local', type: 'AAAA' }]);
    expect(none.answers?.map(({ type }) => type)).toEqual(['NSEC']);
    const records = await ask(port, [{ name: '_https._tcp.local', type: 'PTR' }]);
    expect(records.additionals?.map(({ type }) => type).toSorted()).toEqual(['A', 'NSEC', 'SRV', 'TXT']);
  });

  it('announces shared services and withdraws them', async () => {
    home = await open();
    await announced(home, ['nas.local', 'push.nas.local']);
    await home.change({ shared: ['lamp'] });
    await announced(home, ['nas.local', 'lamp.nas.local']);
    const goodbyeRecord = expect.objectContaining({ type: 'A', ttl: 0 }) as object;
    await vi.waitFor(() => expect(around.records('push.nas.local')).toContainEqual(goodbyeRecord), waitOptions);
    expect(around.records('nas.local')).not.toContainEqual(goodbyeRecord);
    await home[Symbol.asyncDispose]();
    home = undefined;
    await vi.waitFor(() => expect(around.records('nas.local')).toContainEqual(goodbyeRecord), waitOptions);
    expect(around.records('lamp.nas.local')).toContainEqual(goodbyeRecord);
  });

  it('yields conflicting names and reports them', async () => {
    const conflicting: Answer = { name: 'nas.local', type: 'A', ttl: 120, data: '10.9.9.9' };
    const other = setInterval(() => {
      const isQueried = around.packets.some(
        ({ type, questions = [] }) => type === 'query' && questions.some(({ name }) => name === 'nas.local'),
      );
      if (isQueried) around.announce({ type: 'response', answers: [conflicting] });
    }, 20);
    home = await open();
    await announced(home, ['push.nas.local']);
    clearInterval(other);
    expect((await home.state()).problems).toEqual([expect.stringContaining('10.9.9.9')]);
    expect(around.records('nas.local')).toEqual([]);
    await vi.waitFor(() => expect(around.records('push.nas.local')).not.toEqual([]), waitOptions);
  });

  it('defends names against later probes', async () => {
    home = await open();
    await announced(home, ['nas.local', 'push.nas.local']);
    const before = around.records('nas.local').length;
    const authorities: Answer[] = [{ name: 'nas.local', type: 'A', ttl: 120, data: '250.9.9.9' }];
    around.announce({ type: 'query', questions: [{ name: 'nas.local', type: 'ANY' as never }], authorities });
    await vi.waitFor(() => expect(around.records('nas.local').length).toBeGreaterThan(before), waitOptions);
    expect((await home.state()).announced).toContain('nas.local');
  });

  it('ignores other networks and malformed packets', async () => {
    home = await open();
    await announced(home, ['nas.local', 'push.nas.local']);
    const question: Question = { name: 'nas.local', type: 'A' };
    await home.change({ networks: ['10.0.0.0/8'] });
    const quiet = new Promise((resolve) => setTimeout(resolve, 700, 'nothing'));
    const queryInterval = new AbortController();
    const unanswered = ask(port, [question], queryInterval.signal).catch(() => 'given up');
    expect(await Promise.race([unanswered, quiet])).toBe('nothing');
    queryInterval.abort();
    await unanswered;
    await home.change({ networks: ['127.0.0.0/8'] });
    const socket = createSocket('udp4');
    for (const bytes of ['', 'x', '\0'.repeat(12), '\xff'.repeat(200)]) {
      socket.send(Buffer.from(bytes, 'latin1'), port, lan);
    }
    expect((await ask(port, [question])).answers).toHaveLength(1);
    socket.close();
  });
});
