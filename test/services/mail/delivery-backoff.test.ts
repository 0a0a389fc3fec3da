import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { Admission } from '../../../services/mail/accept/delivery-backoff.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { Client, submit } from './support.ts';

let clock: FakeClock;
beforeEach(() => {
  clock = createFakeClock(Date.UTC(2026, 5, 1, 12));
});

describe('mails that come at once', () => {
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
    const open = await Promise.all(subjects.map(() => Client.open(host.port('mail'))));
    for (const client of open) clients.use(client);
    for (const client of open) expect(await client.begin(['alerts@x'])).toMatch(/^354 /);
    const replies = open.map((client, at) => client.finish(Buffer.from(`Subject: ${subjects[at] ?? ''}\r\n\r\nx`)));
    for (const reply of await Promise.all(replies)) expect(reply).toMatch(/^250 /);
  };

  it('are all taken before one of them is delivered, and are delivered when no more come', async () => {
    await sendTogether(['a', 'b', 'c', 'd']);
    expect(await submit(host.port('mail'), ['alerts@x'], 'Subject: e\r\n\r\nx')).toMatch(/^250 /);
    expect(offers.notices.size).toBe(0);
    clock.advance(100);
    await expect.poll(() => offers.notices.size).toBe(5);
  });

  it('do not keep the host from stopping, and are delivered by the next one', async () => {
    await sendTogether(['a', 'b']);
    expect(offers.notices.size).toBe(0);
    await host[Symbol.asyncDispose]();
    expect(offers.notices.size).toBe(0);
    await open();
    await expect.poll(() => offers.notices.size).toBe(2);
  });

  it('one after another are no rush', async () => {
    for (const subject of ['a', 'b', 'c']) {
      expect(await submit(host.port('mail'), ['alerts@x'], `Subject: ${subject}\r\n\r\nx`)).toMatch(/^250 /);
    }
    await expect.poll(() => offers.notices.size).toBe(3);
  });
});

describe('a delivery in a rush', () => {
  const { signal } = new AbortController();
  const two = (rush: Admission): void => {
    using _one = rush.enter();
    using _other = rush.enter();
  };
  /** Turns the clock while two mails come every 20 ms; how long the delivery waited, in ms. */
  const waitedIn = async (rush: Admission, acceptedAt: number): Promise<number> => {
    const began = clock.now();
    let ended: number | undefined;
    void rush.over(acceptedAt, signal).then(() => (ended = clock.now()));
    await new Promise((resolve) => setImmediate(resolve));
    for (let turn = 0; turn < 300 && ended === undefined; turn += 1) {
      if (turn % 2 === 0) two(rush);
      clock.advance(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return (ended ?? Infinity) - began;
  };

  it('waits for two seconds at most, one that waited for its turn less, and one that waited long not at all', async () => {
    const rush = new Admission(clock);
    two(rush);
    expect(await waitedIn(rush, clock.now())).toBe(2000);
    expect(await waitedIn(rush, clock.now() - 1500)).toBe(500);
    expect(await waitedIn(rush, clock.now() - 5000)).toBe(0);
  });

  it('does not wait for ever when the clock is put back', async () => {
    const rush = new Admission(clock);
    two(rush);
    expect(await waitedIn(rush, clock.now() + 3_600_000)).toBe(2000);
  });

  it('fails when it is to end', async () => {
    const rush = new Admission(clock);
    two(rush);
    const stopped = new AbortController();
    const over = rush.over(clock.now(), stopped.signal);
    stopped.abort(new Error('the host is stopping'));
    await expect(over).rejects.toThrow('stopping');
  });
});
