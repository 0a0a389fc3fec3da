import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createBus } from '../../main/host/services/bus.ts';
import { createHandovers } from '../../main/host/services/handovers.ts';
import { defineHandover, defineTopic } from '../../services/contracts/bus.ts';
import { silentLog } from '../support/place.ts';

const happened = defineTopic('test.happened', z.object({ n: z.int() }));
const other = defineTopic('test.other', z.object({ n: z.int() }));
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('events reach the listeners of their topic after the turn, in order', async () => {
  const bus = createBus(silentLog);
  const seen: string[] = [];
  using _first = bus.subscribe(happened, ({ n }) => seen.push(`first ${n}`));
  using _second = bus.subscribe(happened, ({ n }) => seen.push(`second ${n}`));
  using _other = bus.subscribe(other, ({ n }) => seen.push(`other ${n}`));
  bus.publish(happened, { n: 1 });
  bus.publish(other, { n: 2 });
  bus.publish(happened, { n: 3 });
  expect(seen).toEqual([]);
  await nextTurn();
  expect(seen).toEqual(['first 1', 'second 1', 'other 2', 'first 3', 'second 3']);
});

test('who comes later hears the newest event of a topic that tells a state, and none of another', async () => {
  const bus = createBus(silentLog);
  const state = defineTopic('test.state', z.object({ n: z.int() }), { retained: true });
  const seen: string[] = [];
  for (const n of [1, 2]) bus.publish(state, { n });
  bus.publish(happened, { n: 3 });
  await nextTurn();
  using _state = bus.subscribe(state, ({ n }) => seen.push(`state ${n}`));
  using _other = bus.subscribe(happened, ({ n }) => seen.push(`other ${n}`));
  expect(seen).toEqual([]);
  await nextTurn();
  bus.publish(state, { n: 4 });
  await nextTurn();
  expect(seen).toEqual(['state 2', 'state 4']);
});

test('what a listener publishes comes after what was published before', async () => {
  const bus = createBus(silentLog);
  const seen: number[] = [];
  using _listening = bus.subscribe(happened, ({ n }) => {
    seen.push(n);
    if (n === 1) bus.publish(happened, { n: 3 });
  });
  bus.publish(happened, { n: 1 });
  bus.publish(happened, { n: 2 });
  await nextTurn();
  await nextTurn();
  expect(seen).toEqual([1, 2, 3]);
});

test('a listener hears neither what was published before it came nor anything after it went', async () => {
  const bus = createBus(silentLog);
  const late = vi.fn();
  const gone = vi.fn();
  const leaving = bus.subscribe(happened, gone);
  bus.publish(happened, { n: 1 });
  using _late = bus.subscribe(happened, late);
  leaving[Symbol.dispose]();
  await nextTurn();
  expect(late).not.toHaveBeenCalled();
  expect(gone).not.toHaveBeenCalled();
});

test('a listener that throws is logged and disturbs no other', async () => {
  const error = vi.fn();
  const bus = createBus({ ...silentLog, error });
  const seen: number[] = [];
  using _bad = bus.subscribe(happened, () => {
    throw new Error('bad');
  });
  using _good = bus.subscribe(happened, ({ n }) => seen.push(n));
  bus.publish(happened, { n: 1 });
  await nextTurn();
  expect(seen).toEqual([1]);
  expect(error).toHaveBeenCalledWith(expect.any(String), { topic: 'test.happened', error: expect.any(Error) });
});

test('an event that does not fit its topic throws at the publisher', async () => {
  const bus = createBus(silentLog);
  const listener = vi.fn();
  using _listening = bus.subscribe(happened, listener);
  expect(() => bus.publish(happened, { n: 0.5 })).toThrow();
  await nextTurn();
  expect(listener).not.toHaveBeenCalled();
});

const offer = defineHandover('test.offer', z.object({ n: z.int() }));

test('a hand-over resolves when the receiver has committed', async () => {
  const handovers = createHandovers();
  const seen: unknown[] = [];
  using _receiving = handovers.receive(offer, async (payload, key) => {
    await nextTurn();
    seen.push([key, payload]);
  });
  await handovers.pass(offer, 'k', { n: 1 });
  expect(seen).toEqual([['k', { n: 1 }]]);
});

test('a hand-over fails as its receiver does, and can be repeated while there is none', async () => {
  const handovers = createHandovers();
  const none = { code: 'handover.no_receiver', status: 503, retryable: true };
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toMatchObject(none);
  const receiving = handovers.receive(offer, () => Promise.reject(new Error('full')));
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toThrow('full');
  receiving[Symbol.dispose]();
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toMatchObject(none);
});

test('a hand-over has one receiver at a time', () => {
  const handovers = createHandovers();
  const first = handovers.receive(offer, async () => undefined);
  expect(() => handovers.receive(offer, async () => undefined)).toThrow('has a receiver already');
  first[Symbol.dispose]();
  using _second = handovers.receive(offer, async () => undefined);
  first[Symbol.dispose]();
  expect(() => handovers.receive(offer, async () => undefined)).toThrow('has a receiver already');
});

test('a payload that does not fit its hand-over is final', async () => {
  const handovers = createHandovers();
  const receiver = vi.fn(async () => undefined);
  using _receiving = handovers.receive(offer, receiver);
  const wrong = handovers.pass(offer, 'k', { n: 0.5 });
  await expect(wrong).rejects.toMatchObject({ code: 'handover.invalid', retryable: false });
  expect(receiver).not.toHaveBeenCalled();
});

test('while services are starting a hand-over waits for its receiver, and no longer', async () => {
  const started = Promise.withResolvers<void>();
  const handovers = createHandovers(started.promise);
  const received = vi.fn(async () => undefined);
  const early = handovers.pass(offer, 'early', { n: 1 });
  const nobody = handovers.pass(defineHandover('test.nobody', z.object({})), 'k', {});
  using _receiving = handovers.receive(offer, received);
  await nextTurn();
  expect(received).not.toHaveBeenCalled();
  started.resolve();
  await early;
  expect(received).toHaveBeenCalledWith({ n: 1 }, 'early');
  await expect(nobody).rejects.toMatchObject({ code: 'handover.no_receiver' });
});

test('who hands over to a service that is switched off is told so', async () => {
  const handovers = createHandovers(Promise.resolve(), (service) => service === 'test');
  const off = { code: 'handover.switched_off', retryable: true };
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toMatchObject(off);
  using _receiving = handovers.receive(offer, async () => undefined);
  await handovers.pass(offer, 'k', { n: 1 });
});
