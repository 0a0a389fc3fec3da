import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { DeliveryBackoff } from '../../../services/mail/deliver/delivery-backoff.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { Client, submit } from './support.ts';

let clock: FakeClock;
beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
});

describe('burst of mails', () => {
  let dataDir: string;
  let host: TestHost;
  let offers: Offers;
  const open = async (): Promise<void> => {
    const probe = createProbe(['notices']);
    offers = probe.offers;
    host = await openTestHost({ services: [probe.descriptor, mail], clock, dataDir });
  };
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-rush-'));
    await open();
  });
  afterEach(async () => {
    await host[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const sendTogether = async (subjects: readonly string[]): Promise<void> => {
    using clients = new DisposableStack();
    const openClients = await Promise.all(subjects.map(() => Client.open(host.port('mail'))));
    for (const client of openClients) clients.use(client);
    for (const client of openClients) expect(await client.begin(['alerts@x'])).toMatch(/^354 /);
    const replies = openClients.map((client, index) =>
      client.finish(Buffer.from(`Subject: ${subjects[index] ?? ''}\r\n\r\nx`)),
    );
    for (const reply of await Promise.all(replies)) expect(reply).toMatch(/^250 /);
  };

  it('is accepted before the deliveries start, which follow afterwards', async () => {
    await sendTogether(['a', 'b', 'c', 'd']);
    expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: e\r\n\r\nx')).toMatch(/^250 /);
    expect(offers.notices.size).toBe(0);
    clock.advance(100);
    await expect.poll(() => offers.notices.size).toBe(5);
  });

  it('does not block a shutdown, and is delivered after the restart', async () => {
    await sendTogether(['a', 'b']);
    expect(offers.notices.size).toBe(0);
    await host[Symbol.asyncDispose]();
    expect(offers.notices.size).toBe(0);
    await open();
    await expect.poll(() => offers.notices.size).toBe(2);
  });

  it('does not start with sequential mails', async () => {
    for (const subject of ['a', 'b', 'c']) {
      expect(await submit(host.port('mail'), ['alerts@x'], `Subject: ${subject}\r\n\r\nx`)).toMatch(/^250 /);
    }
    await expect.poll(() => offers.notices.size).toBe(3);
  });
});

describe('delivery during a burst', () => {
  const { signal } = new AbortController();
  const receiveTwo = (backoff: DeliveryBackoff): void => {
    using _one = backoff.enter();
    using _other = backoff.enter();
  };
  /** Advances the clock while two mails arrive every 20 ms; returns the delay of the delivery in ms. */
  const measureDelay = async (backoff: DeliveryBackoff, acceptedAt: number): Promise<number> => {
    const startedAt = clock.now();
    let ended: number | undefined;
    void backoff.waitUntilIdle(acceptedAt, signal).then(() => (ended = clock.now()));
    await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 300 && ended === undefined; turn += 1) {
      if (turn % 2 === 0) receiveTwo(backoff);
      clock.advance(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return (ended ?? Infinity) - startedAt;
  };

  it('waits two seconds at most, reduced by the time it already waited', async () => {
    const backoff = new DeliveryBackoff(clock);
    receiveTwo(backoff);
    expect(await measureDelay(backoff, clock.now())).toBe(2000);
    expect(await measureDelay(backoff, clock.now() - 1500)).toBe(500);
    expect(await measureDelay(backoff, clock.now() - 5000)).toBe(0);
  });

  it('stops waiting when the clock is set back', async () => {
    const backoff = new DeliveryBackoff(clock);
    receiveTwo(backoff);
    expect(await measureDelay(backoff, clock.now() + 3_600_000)).toBe(2000);
  });

  it('fails when it is aborted', async () => {
    const backoff = new DeliveryBackoff(clock);
    receiveTwo(backoff);
    const stopped = new AbortController();
    const over = backoff.waitUntilIdle(clock.now(), stopped.signal);
    stopped.abort(new Error('the host is stopping'));
    await expect(over).rejects.toThrow('stopping');
  });
});
