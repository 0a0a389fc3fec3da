import { connect } from 'node:net';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import type { Service } from '../../services/contracts/service.ts';
import { control } from '../../services/control/index.ts';
import { markLongLived } from '../../services/kit/http/long-lived-response.ts';
import { api } from '../support/api.ts';
import { createFakeClock } from '../support/clock.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { openTestHost, type TestHost } from '../support/host.ts';

/** Service whose responses end on request of the test. */
function createTransferService(overrides: Partial<Service> = {}) {
  const messages: string[] = [];
  const tones: unknown[] = [];
  const answers: ServerResponse[] = [];
  const fixture = fixtureService('ferry', (_context, { word }) => ({
    http: (request, response) => {
      answers.push(response);
      response.write('begun ');
      if (request.url === '/live') markLongLived(response);
    },
    start: () => Promise.resolve(void messages.push(word)),
    reconfigure: (settings) => Promise.resolve(void tones.push((settings as { tone: string }).tone)),
    ...overrides,
  }));
  const tone = z.string().default('').meta({ title: 'Tone', description: 'A tone.', live: true });
  const service = { ...fixture, settings: fixture.settings.safeExtend({ tone }) };
  return { service, words: messages, tones, answers };
}

const change = (host: TestHost, section: string, values: object): Promise<unknown> =>
  api(host.url('control'), `/api/settings/${section}`, { method: 'PATCH', body: JSON.stringify(values) });

async function fetchState(host: TestHost): Promise<ServiceState | undefined> {
  const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
  return services.find(({ id }) => id === 'ferry');
}

const readText = async (reply: Promise<Response>): Promise<string> => (await reply).text();

describe('restart for a changed setting', () => {
  it('waits for a running request and reports it', async () => {
    const { service, words: messages, answers } = createTransferService();
    await using host = await openTestHost({ services: [service, control] });
    const running = readText(fetch(host.url('ferry')));
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    expect(await change(host, 'ferry', { word: 'new' })).toEqual({ restarted: [], pending: ['ferry'] });
    const state = await fetchState(host);
    expect(state).toMatchObject({ state: 'up', pendingRestart: { transfers: 1 } });
    expect(state?.pendingRestart?.until).toBeGreaterThan(Date.now() + 200_000);
    expect(messages).toEqual(['']);
    answers[0]?.end('done');
    expect(await running).toBe('begun done');
    await vi.waitFor(() => expect(messages).toEqual(['', 'new']));
    expect(await fetchState(host)).not.toHaveProperty('pendingRestart');
  });

  it('answers in the meantime and waits for long requests', async () => {
    const { service, words: messages, answers } = createTransferService();
    await using host = await openTestHost({ services: [service, control] });
    const first = readText(fetch(host.url('ferry')));
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    await change(host, 'ferry', { word: 'new' });
    const second = readText(fetch(host.url('ferry')));
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    await vi.waitFor(async () => expect((await fetchState(host))?.pendingRestart?.transfers).toBe(2));
    answers[0]?.end('one');
    await first;
    await vi.waitFor(async () => expect((await fetchState(host))?.pendingRestart?.transfers).toBe(1));
    expect(messages).toEqual(['']);
    answers[1]?.end('two');
    expect(await second).toBe('begun two');
    await vi.waitFor(() => expect(messages).toEqual(['', 'new']));
  });

  it('does not wait for a live stream', async () => {
    const { service, words: messages, answers } = createTransferService();
    await using host = await openTestHost({
      services: [service, control],
      environment: { HOMEPORT_STOP_TIMEOUT: '1' },
    });
    const live = readText(fetch(`${host.url('ferry')}/live`)).catch(() => 'cut');
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    expect(await change(host, 'ferry', { word: 'new' })).toEqual({ restarted: ['ferry'] });
    expect(messages).toEqual(['', 'new']);
    expect(await live).toBe('cut');
  });

  it('happens at the limit despite running work', async () => {
    const clock = createFakeClock(Date.now());
    const { service, words: messages, answers } = createTransferService();
    const environment = { HOMEPORT_RESTART_WAIT: '30', HOMEPORT_STOP_TIMEOUT: '1' };
    await using host = await openTestHost({ services: [service, control], environment, clock });
    const running = readText(fetch(host.url('ferry'))).catch(() => 'cut');
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    await change(host, 'ferry', { word: 'new' });
    clock.advance(29_000);
    expect(messages).toEqual(['']);
    clock.advance(1000);
    expect(await running).toBe('cut');
    await vi.waitFor(() => expect(messages).toEqual(['', 'new']));
  });

  it('happens immediately when the limit is 0', async () => {
    const { service, words: messages, answers } = createTransferService();
    const environment = { HOMEPORT_RESTART_WAIT: '0', HOMEPORT_STOP_TIMEOUT: '1' };
    await using host = await openTestHost({ services: [service, control], environment });
    const running = readText(fetch(host.url('ferry'))).catch(() => 'cut');
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    expect(await change(host, 'ferry', { word: 'new' })).toEqual({ restarted: ['ferry'] });
    expect(await running).toBe('cut');
    expect(messages).toEqual(['', 'new']);
  });

  it('applies live settings immediately and is cancelled when the change is reverted', async () => {
    const { service, words: messages, tones, answers } = createTransferService();
    await using host = await openTestHost({ services: [service, control] });
    const running = readText(fetch(host.url('ferry')));
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    await change(host, 'ferry', { word: 'new', tone: 'low' });
    expect(tones).toEqual(['low']);
    expect(await change(host, 'ferry', { tone: 'high' })).toEqual({ restarted: [], pending: ['ferry'] });
    expect(tones).toEqual(['low', 'high']);
    expect(await change(host, 'ferry', { word: null })).toEqual({ restarted: [] });
    expect(await fetchState(host)).not.toHaveProperty('pendingRestart');
    answers[0]?.end('done');
    expect(await running).toBe('begun done');
    expect(messages).toEqual(['']);
  });

  it('waits for the jobs of a service, which starts no further ones', async () => {
    let jobs = 2;
    const openStreams: string[] = [];
    const drain = {
      begin: () => (openStreams.push('held'), { [Symbol.dispose]: () => void openStreams.push('released') }),
      running: () => jobs,
    };
    const { service, words: messages } = createTransferService({ drain });
    await using host = await openTestHost({ services: [service, control] });
    expect(await change(host, 'ferry', { word: 'new' })).toEqual({ restarted: [], pending: ['ferry'] });
    expect((await fetchState(host))?.pendingRestart?.transfers).toBe(2);
    expect(openStreams).toEqual(['held']);
    jobs = 0;
    await vi.waitFor(() => expect(messages).toEqual(['', 'new']));
    expect(openStreams).toEqual(['held', 'released']);
  });

  it('happens immediately when the service is disabled or restarted manually', async () => {
    const { service, words: messages } = createTransferService({
      drain: { begin: () => ({ [Symbol.dispose]: () => undefined }), running: () => 1 },
    });
    await using host = await openTestHost({ services: [service, control] });
    await change(host, 'ferry', { word: 'new' });
    await api(host.url('control'), '/api/services/ferry/restart', { method: 'POST' });
    expect(messages).toEqual(['', 'new']);
    expect(await change(host, 'ferry', { enabled: false })).toEqual({ restarted: ['ferry'] });
    expect((await fetchState(host))?.state).toBe('off');
  });

  it('waits for a connection of a listener for another protocol', async () => {
    const { service, words: messages } = createTransferService({
      listeners: { quay: { tcp: (socket) => void socket.write('hello\n') } },
    });
    const quay = { name: 'quay', title: 'Quay', protocol: 'tcp' as const, port: 0 };
    const listeners = [...(service.listeners ?? []), quay];
    await using host = await openTestHost({ services: [{ ...service, listeners }, control] });
    const socket = connect(host.port('ferry.quay'), '127.0.0.1');
    await once(socket, 'data');
    expect(await change(host, 'ferry', { word: 'new' })).toEqual({ restarted: [], pending: ['ferry'] });
    socket.destroy();
    await vi.waitFor(() => expect(messages).toEqual(['', 'new']));
  });
});
