import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createMetrics } from '../../../main/host/metrics/metrics.ts';
import { Relay } from '../../../main/host/relay/relay.ts';
import type { Transport } from '../../../main/host/relay/transport.ts';
import { systemRandom } from '../../../main/host/runtime/random.ts';
import { createBus } from '../../../main/host/services/bus.ts';
import { openVault } from '../../../main/host/vault/vault.ts';
import { defineTopic, eventsMissed } from '../../../services/contracts/bus.ts';
import type { Vault } from '../../../services/contracts/service.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { silentLog } from '../../support/database-location.ts';

const shared = defineTopic('test.shared', z.object({ n: z.int() }), { shared: true });
const local = defineTopic('test.local', z.object({ n: z.int() }));
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Message server in this process, whose frames tests can drop, repeat and change. */
class FakeServer {
  readonly receivers = new Set<(frame: string) => void>();
  readonly #connections = new Set<(reason: unknown) => void>();
  /** Attempts to connect fail. */
  isDown = false;

  change: (frame: string) => readonly string[] = (frame) => [frame];

  /** Ends all connections. */
  async disconnect(): Promise<void> {
    this.isDown = true;
    for (const close of this.#connections) close(new Error('lost'));
    await nextTurn();
  }

  createTransport(maxFrameLength = 7900): Transport {
    return {
      kind: 'nats',
      maxFrameLength,
      connect: (receive) => {
        if (this.isDown) return Promise.reject(new Error('the server is down'));
        this.receivers.add(receive);
        const closed = Promise.withResolvers<unknown>();
        this.#connections.add(closed.resolve);
        return Promise.resolve({
          closed: closed.promise,
          send: (frames) => {
            for (const frame of frames.flatMap((each) => this.change(each)))
              for (const each of this.receivers) each(frame);
          },
          [Symbol.asyncDispose]: () => {
            this.receivers.delete(receive);
            this.#connections.delete(closed.resolve);
            closed.resolve(undefined);
            return Promise.resolve();
          },
        });
      },
    };
  }
}

const createVault = (): Promise<Vault> =>
  openVault({
    folder: '',
    provided: { text: randomBytes(32).toString('base64'), source: 'HOMEPORT_VAULT_KEY' },
    log: silentLog,
  });

interface TestRelay extends AsyncDisposable {
  readonly relay: Relay;
  readonly bus: ReturnType<typeof createBus>;
  readonly seen: string[];
  readonly log: string[];
  readonly host: string;
}

async function openRelay(server: FakeServer, vault: Vault, clock: FakeClock): Promise<TestRelay> {
  const log: string[] = [];
  const host = systemRandom.text(16);
  const relay = new Relay({
    transport: server.createTransport(),
    vault,
    clock,
    host,
    log: { ...silentLog, warn: (message, fields) => log.push(`${message} ${JSON.stringify(fields)}`) },
    metrics: createMetrics({ version: 'test' }).host,
  });
  const bus = createBus(silentLog, undefined, relay);
  const seen: string[] = [];
  bus.subscribe(shared, ({ n }) => seen.push(`all ${String(n)}`));
  bus.subscribe(shared, ({ n }) => seen.push(`this ${String(n)}`), 'this host');
  bus.subscribe(shared, ({ n }) => seen.push(`others ${String(n)}`), 'other hosts');
  bus.subscribe(local, ({ n }) => seen.push(`local ${String(n)}`));
  await relay.start();
  await nextTurn();
  bus.subscribe(eventsMissed, ({ connected }) => seen.push(`missed ${String(connected)}`));
  return { relay, bus, seen, log, host, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
}

async function openPair(server = new FakeServer()) {
  const clock = createFakeClock();
  const vault = await createVault();
  const first = await openRelay(server, vault, clock);
  const second = await openRelay(server, vault, clock);
  clock.advance(5000);
  await nextTurn();
  for (const { seen } of [first, second]) seen.length = 0;
  return { server, clock, vault, first, second };
}

it('delivers events of shared topics to subscribers of both hosts, once', async () => {
  const { first, second } = await openPair();
  first.bus.publish(shared, { n: 1 });
  first.bus.publish(local, { n: 2 });
  first.bus.publish(shared, { n: 3 });
  await nextTurn();
  expect(first.seen).toEqual(['all 1', 'this 1', 'local 2', 'all 3', 'this 3']);
  expect(second.seen).toEqual(['all 1', 'others 1', 'all 3', 'others 3']);
  expect(second.relay.state).toEqual({ kind: 'nats', isConnected: true, otherHosts: 1 });
});

it('drops repeated messages, and reports lost ones', async () => {
  const { server, first, second, clock } = await openPair();
  server.change = (frame) => [frame, frame];
  first.bus.publish(shared, { n: 1 });
  server.change = () => [];
  first.bus.publish(shared, { n: 2 });
  server.change = (frame) => [frame];
  first.bus.publish(shared, { n: 3 });
  await nextTurn();
  expect(second.seen).toEqual(['all 1', 'others 1', 'missed true', 'all 3', 'others 3']);
  server.change = () => [];
  first.bus.publish(shared, { n: 4 });
  server.change = (frame) => [frame];
  second.seen.length = 0;
  clock.advance(5000);
  await nextTurn();
  expect(second.seen).toEqual(['missed true']);
});

it('reports lost messages of a host that was disconnected for long', async () => {
  const { server, first, second, clock } = await openPair();
  server.change = () => [];
  first.bus.publish(shared, { n: 1 });
  clock.advance(60_000);
  await nextTurn();
  expect(second.relay.state.otherHosts).toBe(0);
  expect(second.seen, 'its last events may be lost').toEqual(['missed true']);
  second.seen.length = 0;
  server.change = (frame) => [frame];
  // The host must first prove that it is running, so the event itself is not accepted.
  first.bus.publish(shared, { n: 2 });
  first.bus.publish(shared, { n: 3 });
  await nextTurn();
  expect(second.seen).toEqual(['missed true', 'all 3', 'others 3']);
});

it('notifies no subscriber after a new connection when no event was lost', async () => {
  const { server, clock, first, second } = await openPair();
  first.bus.publish(shared, { n: 1 });
  await nextTurn();
  first.seen.length = 0;
  second.seen.length = 0;
  await server.disconnect();
  server.isDown = false;
  clock.advance(1000);
  await nextTurn();
  clock.advance(30_000);
  await nextTurn();
  first.bus.publish(shared, { n: 2 });
  await nextTurn();
  expect(first.seen).toEqual(['all 2', 'this 2']);
  expect(second.seen).toEqual(['all 2', 'others 2']);
});

it('notifies subscribers after a new connection when an event was lost', async () => {
  const { server, clock, first, second } = await openPair();
  await server.disconnect();
  first.bus.publish(shared, { n: 1 });
  server.isDown = false;
  clock.advance(1000);
  await nextTurn();
  await nextTurn();
  expect(second.seen).toEqual(['missed true']);
  expect(first.seen).toEqual(['all 1', 'this 1']);
});

it('notifies subscribers at most once per second when events of several hosts were lost', async () => {
  const { server, clock, vault, first, second } = await openPair();
  await using third = await openRelay(server, vault, clock);
  await nextTurn();
  second.seen.length = 0;
  server.change = () => [];
  first.bus.publish(shared, { n: 1 });
  third.bus.publish(shared, { n: 1 });
  server.change = (frame) => [frame];
  clock.advance(5000);
  await nextTurn();
  expect(second.seen).toEqual(['missed true']);
  clock.advance(1000);
  await nextTurn();
  expect(second.seen, 'both events').toEqual(['missed true', 'missed true']);
  second.seen.length = 0;
  clock.advance(20_000);
  await nextTurn();
  expect(second.seen).toEqual([]);
});

it('notifies subscribers when a host ends without a message', async () => {
  const { server, clock, first, second } = await openPair();
  server.change = (frame) => (frame.includes(first.host) ? [] : [frame]);
  clock.advance(30_000);
  await nextTurn();
  expect(second.seen).toEqual(['missed true']);
});

it('does not accept recorded messages of a host that has ended', async () => {
  const { server, clock, vault, first, second } = await openPair();
  const recorded: string[] = [];
  server.change = (frame) => (recorded.push(frame), [frame]);
  clock.advance(5000);
  first.bus.publish(shared, { n: 1 });
  await first[Symbol.asyncDispose]();
  server.change = (frame) => [frame];
  await using later = await openRelay(server, vault, clock);
  await nextTurn();
  second.seen.length = 0;
  later.seen.length = 0;
  expect(recorded.length).toBeGreaterThan(1);
  for (let round = 0; round < 3; round++) {
    for (const frame of recorded) for (const receive of server.receivers) receive(frame);
    await nextTurn();
    clock.advance(30_000);
  }
  await nextTurn();
  expect(later.seen).toEqual([]);
  expect(second.seen).toEqual([]);
  expect([later, second].map(({ relay }) => relay.state.otherHosts)).toEqual([1, 1]);
});

it('does not end a host because of a repeated message', async () => {
  const { server, clock, vault, first } = await openPair();
  const recorded: string[] = [];
  server.change = (frame) => (recorded.push(frame), [frame]);
  const ended = await openRelay(server, vault, clock);
  await ended[Symbol.asyncDispose]();
  server.change = (frame) => [frame];
  await nextTurn();
  first.seen.length = 0;
  for (const frame of recorded) for (const receive of server.receivers) receive(frame);
  expect(first.relay.state.otherHosts).toBe(1);
});

it('rejects messages that no host of this installation sent', async () => {
  const { server, clock, second } = await openPair();
  await using foreign = await openRelay(server, await createVault(), clock);
  const replay: string[] = [];
  server.change = (frame) => (replay.push(frame), [frame]);
  foreign.bus.publish(shared, { n: 1 });
  const [frame = ''] = replay;
  for (const hostile of ['garbage', frame.replace(/:1\/1:.*/s, ':1/1:AAAA'), frame.replace(':1/1:', ':1/2:')]) {
    for (const receive of server.receivers) receive(hostile);
  }
  await nextTurn();
  expect(second.seen).toEqual([]);
  expect(second.log.filter((line) => line.startsWith('relay messages rejected'))).toHaveLength(1);
});

it('ignores events that this version does not know, and fields that it does not know', async () => {
  const { first, second } = await openPair();
  const later = defineTopic('test.shared', z.object({ n: z.int(), more: z.string() }), { shared: true });
  const changed = defineTopic('test.shared', z.object({ n: z.string() }), { shared: true });
  const unknown = defineTopic('test.unknown', z.object({}), { shared: true });
  const forged = defineTopic('test.local', z.object({ n: z.int() }), { shared: true });
  first.bus.publish(later, { n: 1, more: 'x' });
  first.bus.publish(changed, { n: 'x' });
  first.bus.publish(unknown, {});
  first.bus.publish(forged, { n: 2 });
  first.bus.publish(shared, { n: 3 });
  await nextTurn();
  expect(second.seen).toEqual(['all 1', 'others 1', 'all 3', 'others 3']);
});

it('reports an event that is too long as lost', async () => {
  const { first, second } = await openPair();
  const long = defineTopic('test.long', z.object({ text: z.string() }), { shared: true });
  using _long = second.bus.subscribe(long, ({ text }) => second.seen.push(`long ${String(text.length)}`));
  first.bus.publish(long, { text: 'x'.repeat(100_000) });
  first.bus.publish(long, { text: 'x'.repeat(3_000_000) });
  await nextTurn();
  expect(second.seen).toEqual(['long 100000', 'missed true']);
});

it('notices the end of a host', async () => {
  const { first, second, clock } = await openPair();
  await first[Symbol.asyncDispose]();
  expect(second.relay.state.otherHosts).toBe(0);
  clock.advance(5000);
  expect(second.relay.getProblem()).toBeUndefined();
});
