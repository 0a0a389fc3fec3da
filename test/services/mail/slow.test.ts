import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Context } from '../../../services/contracts/service.ts';
import { mail } from '../../../services/mail/index.ts';
import type { Settings } from '../../../services/mail/settings.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { Client, submit } from './support.ts';

const halfHourMs = 30 * 60_000;

let clock: FakeClock;
let host: TestHost;
let offers: Offers;
beforeEach(async () => {
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
  const probe = createProbe(['notices']);
  offers = probe.offers;
  const shortTimeouts = {
    ...mail,
    create: (context: Context, settings: Settings) =>
      mail.create(context, { ...settings, idleSeconds: 5, maxClients: 4 }),
  };
  host = await openTestHost({ services: [probe.descriptor, shortTimeouts], clock });
});
afterEach(() => host[Symbol.asyncDispose]());

/** Sends `count` bytes one by one, each after the previous one was sent. */
async function trickle(client: Client, text: string, count: number): Promise<void> {
  for (const letter of text.repeat(Math.ceil(count / text.length)).slice(0, count)) {
    client.write(letter);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('slow client', () => {
  it('is disconnected after the idle timeout, before and during a mail', async () => {
    using silent = await Client.open(host.port('mail'));
    expect(await silent.reply()).toMatch(/^220 /);
    using partialClient = await Client.open(host.port('mail'));
    await partialClient.begin(['alerts@x']);
    partialClient.write('Subject: half\r\n\r\nand then');
    expect(await silent.reply()).toMatch(/^421 /);
    expect(await silent.reply()).toBe('');
    expect(await partialClient.reply()).toMatch(/^421 |^$/);
    expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: next\r\n\r\nx')).toMatch(/^250 /);
    await vi.waitFor(() => expect([...offers.notices.values()].map(({ notice }) => notice.title)).toHaveLength(1), {
      timeout: 15_000,
    });
  });

  it('disconnects a slow client after half an hour, without blocking others', async () => {
    using slow = await Client.open(host.port('mail'));
    await slow.begin(['alerts@x']);
    await trickle(slow, 'Subject: drip\r\n\r\n', 200);
    for (const subject of ['a', 'b', 'c']) {
      expect(await submit(host.port('mail'), ['alerts@x'], `Subject: ${subject}\r\n\r\nx`)).toMatch(/^250 /);
      await trickle(slow, 'drip ', 50);
    }
    await vi.waitFor(() => expect(offers.notices.size).toBe(3), { timeout: 15_000 });
    clock.advance(halfHourMs);
    expect(await slow.reply()).toBe('');
    expect([...offers.notices.values()].some(({ notice }) => notice.title.includes('drip'))).toBe(false);
  });

  it('occupies only its connection and releases it', async () => {
    const sockets = Array.from({ length: 4 }, () => connect(host.port('mail'), '127.0.0.1'));
    await Promise.all(
      sockets.map(async (socket) =>
        once(
          socket.on('error', () => undefined),
          'data',
        ),
      ),
    );
    for (const socket of sockets) socket.write('E');
    using fifth = await Client.open(host.port('mail'));
    expect(await fifth.reply()).toMatch(/^421 /);
    const ended = sockets.map((socket) => once(socket, 'close'));
    clock.advance(halfHourMs);
    await Promise.all(ended);
    await vi.waitFor(async () =>
      expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: a\r\n\r\nx')).toMatch(/^250 /),
    );
  });
});
