import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from './api.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from './host.ts';
import { openPostgresDatabase } from './postgres.ts';
import { openPushStream, streamKinds } from './push-stream.ts';

const headers = { authorization: adminAuthorization };
const wait = { timeout: 20_000, interval: 10 } as const;

export async function publish(host: Pick<TestHost, 'url'>, topic: string, text: string, more = {}): Promise<void> {
  const reply = await fetch(`${host.url('push')}/${topic}`, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: text,
  });
  expect(reply.status).toBe(200);
}

async function createToken(host: TestHost): Promise<string> {
  const reply = await fetch(`${host.url('push')}/v1/account/token`, { method: 'POST', headers, body: '{}' });
  return ((await reply.json()) as { token: string }).token;
}

/** Checks that two hosts with one database notify each other. `open` starts the server between them, if there is one. */
export function describeRelay(
  name: 'NATS' | 'PostgreSQL',
  open: () => Promise<AsyncDisposable & { readonly environment: Readonly<Record<string, string>> }>,
): void {
  describe(`two hosts over ${name}`, () => {
    const resources = new AsyncDisposableStack();
    let first: TestHost;
    let second: TestHost;

    beforeAll(async () => {
      const server = resources.use(await open());
      const { url } = resources.use(await openPostgresDatabase());
      const environment = {
        ...server.environment,
        HOMEPORT_DATABASE_URL: url,
        HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
      };
      const services = [push, inbox, control];
      first = resources.use(await openTestHost({ environment, services }));
      second = resources.use(await openTestHost({ environment, services }));
    });
    afterAll(() => resources.disposeAsync());

    it.each(streamKinds)('delivers messages of both hosts once and in the same order to a stream: %s', async (kind) => {
      using local = await openPushStream(first.url('push'), `order-${kind}`, 'json');
      using remote = await openPushStream(second.url('push'), `order-${kind}`, kind);
      const numbers = Array.from({ length: 30 }, (_, index) => index);
      await Promise.all(
        numbers.map((n) => publish(n % 3 === 0 ? second : first, `order-${kind}`, `message ${String(n)}`)),
      );
      await publish(first, `order-${kind}`, 'last');
      await vi.waitFor(() => expect(remote.texts.at(-1)).toBe('last'), wait);
      await vi.waitFor(() => expect(local.texts.at(-1)).toBe('last'), wait);
      expect(remote.texts).toHaveLength(31);
      expect(remote.texts).toEqual(local.texts);
    });

    it('delivers messages that are not stored, and long ones', async () => {
      using remote = await openPushStream(second.url('push'), 'unstored', 'json');
      await publish(first, 'unstored', 'not cached', { cache: 'no' });
      await vi.waitFor(() => expect(remote.texts).toEqual(['not cached']), wait);
      const long = 'x'.repeat(4000);
      await publish(first, 'unstored', long, { title: 'y'.repeat(200) });
      await vi.waitFor(() => expect(remote.texts).toEqual(['not cached', long]), wait);
    });

    it('resumes a stream at another host without a gap', async () => {
      for (const text of ['1', '2', '3']) await publish(first, 'resumed', text);
      using resumed = await openPushStream(second.url('push'), 'resumed', 'json', { since: 'all' });
      await publish(first, 'resumed', '4');
      await vi.waitFor(() => expect(resumed.texts).toEqual(['1', '2', '3', '4']), wait);
    });

    it('delivers a message within 100 ms in the median', async () => {
      using remote = await openPushStream(second.url('push'), 'latency', 'json');
      const latencies: number[] = [];
      for (let n = 1; n <= 15; n++) {
        await publish(first, 'latency', 'x');
        const publishedAt = performance.now();
        await vi.waitFor(() => expect(remote.texts).toHaveLength(n), { timeout: 20_000, interval: 2 });
        latencies.push(performance.now() - publishedAt);
      }
      expect(latencies.toSorted((a, b) => a - b)[7]).toBeLessThan(100);
    });

    it('ends the streams of a token that was deleted at another host, and refuses it', async () => {
      const token = await createToken(first);
      const authorization = `Bearer ${token}`;
      using stream = await openPushStream(second.url('push'), 'secret', 'json', { authorization });
      const removal = { method: 'DELETE', headers: { ...headers, 'x-token': token } };
      expect((await fetch(`${first.url('push')}/v1/account/token`, removal)).status).toBe(200);
      await stream.ended;
      const reply = await fetch(`${second.url('push')}/secret/json?poll=1`, { headers: { authorization } });
      expect(reply.status).toBe(401);
    });

    it('ends the page of a session that ended at another host, and refuses it', async () => {
      const { session } = await api<{ session: string }>(first.url('control'), '/api/session', {
        method: 'POST',
        body: JSON.stringify(admin),
        headers: { authorization: '' },
      });
      const withSession = { headers: { 'Homeport-Session': session } };
      const events = await fetch(`${second.url('control')}/api/events`, withSession);
      expect(events.status).toBe(200);
      const out = await fetch(`${first.url('control')}/api/session`, { ...withSession, method: 'DELETE' });
      expect(out.status).toBe(200);
      // Resolves when the host ends the stream.
      await events.text();
      expect((await fetch(`${second.url('control')}/api/events`, withSession)).status).toBe(401);
    });

    it('shows changes of another host on open pages', async () => {
      const stop = new AbortController();
      const reply = await fetch(`${second.url('control')}/api/events`, { headers, signal: stop.signal });
      const events: string[] = [];
      const reading = (async () => {
        for await (const chunk of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) events.push(chunk);
      })().catch(() => undefined);
      await publish(first, 'pages', 'a message for the inbox');
      await vi.waitFor(() => {
        expect(events.join('')).toContain('event: inbox.added');
        expect(events.join('')).toContain('event: push.stored');
      }, wait);
      stop.abort();
      await reading;
    });

    it('counts wrong passwords at all hosts', async () => {
      const guess = async (host: TestHost, password: string): Promise<number> => {
        const authorization = `Basic ${Buffer.from(`mallory:${password}`).toString('base64')}`;
        return (await fetch(`${host.url('push')}/x/json?poll=1`, { headers: { authorization } })).status;
      };
      using events = await openPushStream(second.url('push'), 'guesses', 'json');
      for (const password of ['a', 'b', 'c', 'd', 'e']) expect(await guess(first, password)).toBe(401);
      // Events of a host arrive in order, so the guesses were counted when the message arrives.
      await publish(first, 'guesses', 'counted');
      await vi.waitFor(() => expect(events.texts).toEqual(['counted']), wait);
      expect(await guess(second, 'f')).toBe(429);
    });

    it('shows the connection in the health of the host', async () => {
      await vi.waitFor(async () => {
        const { services } = await api<{ services: ServiceState[] }>(second.url('control'), '/api/services');
        const state = services.find(({ id }) => id === 'control');
        expect(state?.state).toBe('up');
        expect(state?.detail).toContain(`1 other host over ${name}`);
      }, wait);
    });
  });
}
