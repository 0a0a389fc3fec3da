import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createBus } from '../../main/host/services/bus.ts';
import { createHandovers } from '../../main/host/services/handovers.ts';
import { defineHandover, defineTopic } from '../../services/contracts/bus.ts';
import { getLanguage } from '../../messages/language.ts';
import { runInLanguage } from '../../services/kit/language.ts';
import { silentLog } from '../support/database-location.ts';

const testTopic = defineTopic('test.happened', z.object({ n: z.int() }));
const other = defineTopic('test.other', z.object({ n: z.int() }));
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('delivers events to subscribers of their topic after the turn, in order', async () => {
  const bus = createBus(silentLog);
  const seen: string[] = [];
  using _first = bus.subscribe(testTopic, ({ n }) => seen.push(`first ${n}`));
  using _second = bus.subscribe(testTopic, ({ n }) => seen.push(`second ${n}`));
  using _other = bus.subscribe(other, ({ n }) => seen.push(`other ${n}`));
  bus.publish(testTopic, { n: 1 });
  bus.publish(other, { n: 2 });
  bus.publish(testTopic, { n: 3 });
  expect(seen).toEqual([]);
  await nextTurn();
  expect(seen).toEqual(['first 1', 'second 1', 'other 2', 'first 3', 'second 3']);
});

test('delivers events in English, whatever the language of the publisher', async () => {
  const bus = createBus(silentLog);
  const languages: string[] = [];
  using _listening = bus.subscribe(testTopic, () => languages.push(getLanguage()));
  await runInLanguage({ language: 'de', locale: 'de' }, () => bus.publish(testTopic, { n: 1 }));
  await nextTurn();
  expect(languages).toEqual(['en']);
});

test('delivers the latest event to new subscribers of retained topics only', async () => {
  const bus = createBus(silentLog);
  const state = defineTopic('test.state', z.object({ n: z.int() }), { retained: true });
  const seen: string[] = [];
  for (const n of [1, 2]) bus.publish(state, { n });
  bus.publish(testTopic, { n: 3 });
  await nextTurn();
  using _state = bus.subscribe(state, ({ n }) => seen.push(`state ${n}`));
  using _other = bus.subscribe(testTopic, ({ n }) => seen.push(`other ${n}`));
  expect(seen).toEqual([]);
  await nextTurn();
  bus.publish(state, { n: 4 });
  await nextTurn();
  expect(seen).toEqual(['state 2', 'state 4']);
});

test('delivers nested events after earlier ones', async () => {
  const bus = createBus(silentLog);
  const seen: number[] = [];
  using _listening = bus.subscribe(testTopic, ({ n }) => {
    seen.push(n);
    if (n === 1) bus.publish(testTopic, { n: 3 });
  });
  bus.publish(testTopic, { n: 1 });
  bus.publish(testTopic, { n: 2 });
  await nextTurn();
  await nextTurn();
  expect(seen).toEqual([1, 2, 3]);
});

test('delivers neither events before a subscription nor after its disposal', async () => {
  const bus = createBus(silentLog);
  const late = vi.fn();
  const unsubscribed = vi.fn();
  const leaving = bus.subscribe(testTopic, unsubscribed);
  bus.publish(testTopic, { n: 1 });
  using _late = bus.subscribe(testTopic, late);
  leaving[Symbol.dispose]();
  await nextTurn();
  expect(late).not.toHaveBeenCalled();
  expect(unsubscribed).not.toHaveBeenCalled();
});

test('logs a subscriber that throws and continues with the others', async () => {
  const error = vi.fn();
  const bus = createBus({ ...silentLog, error });
  const seen: number[] = [];
  using _bad = bus.subscribe(testTopic, () => {
    throw new Error('bad');
  });
  using _good = bus.subscribe(testTopic, ({ n }) => seen.push(n));
  bus.publish(testTopic, { n: 1 });
  await nextTurn();
  expect(seen).toEqual([1]);
  expect(error).toHaveBeenCalledWith(expect.any(String), { topic: 'test.happened', error: expect.any(Error) });
});

test('throws at the publisher for an event that violates its schema', async () => {
  const bus = createBus(silentLog);
  const listener = vi.fn();
  using _listening = bus.subscribe(testTopic, listener);
  expect(() => bus.publish(testTopic, { n: 0.5 })).toThrow();
  await nextTurn();
  expect(listener).not.toHaveBeenCalled();
});

const offer = defineHandover('test.offer', z.object({ n: z.int() }));

test('resolves a handover when the receiver has committed', async () => {
  const handovers = createHandovers();
  const seen: unknown[] = [];
  using _receiving = handovers.receive(offer, async (payload, key) => {
    await nextTurn();
    seen.push([key, payload]);
  });
  await handovers.pass(offer, 'k', { n: 1 });
  expect(seen).toEqual([['k', { n: 1 }]]);
});

test('rejects a handover like its receiver and without one', async () => {
  const handovers = createHandovers();
  const none = { code: 'handover.no_receiver', status: 503, retryable: true };
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toMatchObject(none);
  const receiving = handovers.receive(offer, () => Promise.reject(new Error('full')));
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toThrow('full');
  receiving[Symbol.dispose]();
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toMatchObject(none);
});

test('allows one receiver per handover at a time', () => {
  const handovers = createHandovers();
  const first = handovers.receive(offer, async () => undefined);
  expect(() => handovers.receive(offer, async () => undefined)).toThrow('has a receiver already');
  first[Symbol.dispose]();
  using _second = handovers.receive(offer, async () => undefined);
  first[Symbol.dispose]();
  expect(() => handovers.receive(offer, async () => undefined)).toThrow('has a receiver already');
});

test('fails permanently for an invalid handover payload', async () => {
  const handovers = createHandovers();
  const receiver = vi.fn(async () => undefined);
  using _receiving = handovers.receive(offer, receiver);
  const wrong = handovers.pass(offer, 'k', { n: 0.5 });
  await expect(wrong).rejects.toMatchObject({ code: 'handover.invalid', retryable: false });
  expect(receiver).not.toHaveBeenCalled();
});

test('waits for a receiver only while services are starting', async () => {
  const started = Promise.withResolvers<void>();
  const handovers = createHandovers(started.promise);
  const received = vi.fn(async () => undefined);
  const early = handovers.pass(offer, 'early', { n: 1 });
  const unhandled = handovers.pass(defineHandover('test.nobody', z.object({})), 'k', {});
  using _receiving = handovers.receive(offer, received);
  await nextTurn();
  expect(received).not.toHaveBeenCalled();
  started.resolve();
  await early;
  expect(received).toHaveBeenCalledWith({ n: 1 }, 'early');
  await expect(unhandled).rejects.toMatchObject({ code: 'handover.no_receiver' });
});

test('reports that the receiving service is disabled', async () => {
  const handovers = createHandovers(Promise.resolve(), (service) => service === 'test');
  const off = { code: 'handover.switched_off', retryable: true };
  await expect(handovers.pass(offer, 'k', { n: 1 })).rejects.toMatchObject(off);
  using _receiving = handovers.receive(offer, async () => undefined);
  await handovers.pass(offer, 'k', { n: 1 });
});
