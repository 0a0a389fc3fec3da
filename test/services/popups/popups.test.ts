import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { popupsChanged, type PopupsState } from '../../../services/contracts/popups/popups.ts';
import { message, PopupsFixture } from './support.ts';

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

let fixture: PopupsFixture;

beforeEach(async () => {
  // A Tuesday, 11:00 in Berlin.
  fixture = new PopupsFixture('2026-03-10T10:00:00Z');
  await fixture.start();
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function restart(): Promise<void> {
  await fixture.stop();
  await fixture.start();
}

function quietHours(...lines: string[]): void {
  fixture.settings = { ...fixture.settings, quietHours: lines };
  fixture.popups.refresh();
}

describe('priorities', () => {
  it('shows no popup for priorities 1 and 2', async () => {
    await fixture.add(message(1, { priority: 1 }), message(2, { priority: 2 }));
    expect(fixture.notifier.popups).toEqual([]);
  });

  it('shows priorities 3 and 4, and 5 as critical', async () => {
    await fixture.add(message(1), message(2, { priority: 4 }), message(3, { priority: 5 }));
    expect(fixture.notifier.popups.map(({ title, urgency }) => [title, urgency])).toEqual([
      ['Message 1', 'normal'],
      ['Message 2', 'normal'],
      ['Message 3', 'critical'],
    ]);
    expect(fixture.notifier.popups[0]).toMatchObject({ silent: false, group: 'push', body: 'body' });
  });

  it('shows nothing when popups are disabled or the row was already read', async () => {
    await fixture.add(message(1, { read: true }), message(2, { done: true }));
    fixture.settings = { ...fixture.settings, popups: false };
    await fixture.add(message(3, { priority: 5 }));
    expect(fixture.notifier.popups).toEqual([]);
    expect(fixture.popups.state().enabled).toBe(false);
  });

  it('shows popups without sound when it is disabled', async () => {
    fixture.settings = { ...fixture.settings, popupSound: false };
    await fixture.add(message(1));
    expect(fixture.notifier.popups[0]?.silent).toBe(true);
  });
});

describe('quiet hours', () => {
  it('holds messages of priority 3 for one popup at the end of quiet hours, and shows 4 and 5', async () => {
    quietHours('10:00-12:00');
    for (let id = 1; id <= 7; id += 1) await fixture.add(message(id, { source: id <= 5 ? 'mail' : 'push' }));
    await fixture.add(message(8, { priority: 4 }), message(9, { priority: 5 }));
    expect(fixture.notifier.titles).toEqual(['Message 8', 'Message 9']);
    expect(fixture.popups.state()).toMatchObject({ held: 7, quietUntil: Date.parse('2026-03-10T11:00:00Z') });
    await fixture.change([9], { read: true });

    fixture.clock.advance(hourMs - 1);
    expect(fixture.notifier.popups).toHaveLength(2);
    fixture.clock.advance(1);
    expect(fixture.notifier.popups.slice(2)).toMatchObject([
      { title: '7 messages during quiet hours', body: 'mail 5, push 2', urgency: 'normal' },
    ]);
    expect(fixture.popups.state()).toMatchObject({ held: 0, quietUntil: null });
    fixture.clock.advance(24 * hourMs);
    expect(fixture.notifier.popups).toHaveLength(3);
  });

  it('excludes messages that were read, done or deleted from the summary of quiet hours', async () => {
    quietHours('10:00-12:00');
    await fixture.add(message(1), message(2), message(3), message(4));
    await fixture.change([1], { read: true });
    await fixture.change([2], { done: true });
    await fixture.change([3], { removed: true });
    expect(fixture.popups.state().held).toBe(1);
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.titles).toEqual(['1 message during quiet hours']);
  });

  it('shows nothing at the end of quiet hours without held messages', () => {
    quietHours('10:00-12:00');
    fixture.clock.advance(2 * hourMs);
    expect(fixture.notifier.popups).toEqual([]);
  });

  it('ends quiet hours immediately when they are removed', async () => {
    quietHours('10:00-12:00');
    await fixture.add(message(1), message(2));
    quietHours();
    expect(fixture.notifier.titles).toEqual(['2 messages during quiet hours']);
  });

  it('keeps messages held in quiet hours across a restart', async () => {
    quietHours('10:00-12:00');
    await fixture.add(message(1), message(2));
    await restart();
    await fixture.add(message(3));
    expect(fixture.popups.state().held).toBe(3);
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.titles).toEqual(['3 messages during quiet hours']);
    await restart();
    expect(fixture.notifier.popups).toEqual([]);
  });

  it('summarizes at the start when quiet hours ended while the host was down', async () => {
    quietHours('10:00-12:00');
    await fixture.add(message(1), message(2));
    await fixture.stop();
    fixture.clock.advance(3 * hourMs);
    await fixture.start();
    expect(fixture.notifier.titles).toEqual(['2 messages during quiet hours']);
  });

  it('ends quiet hours at their local time when summer time begins', async () => {
    fixture.clock.advance(Date.parse('2026-03-28T22:00:00Z') - fixture.clock.now());
    quietHours('22:00-07:00');
    await fixture.add(message(1));
    fixture.clock.advance(Date.parse('2026-03-29T04:59:59Z') - fixture.clock.now());
    expect(fixture.notifier.popups).toEqual([]);
    fixture.clock.advance(secondMs);
    expect(fixture.notifier.titles).toEqual(['1 message during quiet hours']);
  });

  it('holds messages when the state file cannot be read', async () => {
    await fixture.stop();
    mkdirSync(join(fixture.folder, 'host'), { recursive: true });
    writeFileSync(join(fixture.folder, 'host', 'popups.json'), '{"held": 7');
    await fixture.start();
    quietHours('10:00-12:00');
    await fixture.add(message(1));
    expect(fixture.popups.state().held).toBe(1);
    expect(fixture.log.filter((line) => line.includes('popup state read failed'))).toHaveLength(1);
  });

  it('holds messages and logs once when the state cannot be saved', async () => {
    rmSync(join(fixture.folder, 'host'), { recursive: true, force: true });
    writeFileSync(join(fixture.folder, 'host'), 'a file where the folder should be');
    quietHours('10:00-12:00');
    await fixture.add(message(1));
    await expect.poll(() => fixture.log.filter((line) => line.includes('popup state write failed'))).toHaveLength(1);
    await fixture.add(message(2));
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.titles).toEqual(['2 messages during quiet hours']);
    await fixture.stop();
    expect(fixture.log.filter((line) => line.includes('popup state write failed'))).toHaveLength(1);
  });

  it('counts each message of a flood exactly once', async () => {
    quietHours('10:00-12:00');
    await fixture.add(...Array.from({ length: 12_000 }, (_, id) => message(id + 1)));
    await restart();
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.titles).toEqual(['12,000 messages during quiet hours']);
  });
});

describe('pause', () => {
  it('holds priority 3 until its end; 4 is shown', async () => {
    const until = fixture.clock.now() + 30 * minuteMs;
    expect(fixture.popups.pause(until)).toMatchObject({ pausedUntil: until });
    await fixture.add(message(1), message(2, { priority: 4 }));
    expect(fixture.notifier.titles).toEqual(['Message 2']);
    fixture.clock.advance(30 * minuteMs);
    expect(fixture.notifier.titles).toEqual(['Message 2', '1 message during quiet hours']);
    expect(fixture.popups.state().pausedUntil).toBeNull();
  });

  it('survives a restart', async () => {
    const until = fixture.clock.now() + 30 * minuteMs;
    fixture.popups.pause(until);
    await restart();
    expect(fixture.popups.state().pausedUntil).toBe(until);
  });

  it('summarizes immediately when it is ended by the user', async () => {
    fixture.popups.pause(fixture.clock.now() + hourMs);
    await fixture.add(message(1), message(2));
    expect(fixture.popups.pause(null)).toMatchObject({ pausedUntil: null, held: 0 });
    expect(fixture.notifier.titles).toEqual(['2 messages during quiet hours']);
  });

  it('leaves the summary to quiet hours in which it ends', async () => {
    quietHours('10:00-12:00');
    fixture.popups.pause(fixture.clock.now() + 10 * minuteMs);
    await fixture.add(message(1));
    fixture.clock.advance(20 * minuteMs);
    expect(fixture.notifier.popups).toEqual([]);
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.titles).toEqual(['1 message during quiet hours']);
  });

  it('lasts a year at most', () => {
    expect(fixture.popups.pause(Number.MAX_SAFE_INTEGER).pausedUntil).toBeLessThan(
      fixture.clock.now() + 367 * 24 * hourMs,
    );
  });

  it('is published to pages and the tray with the number of held messages', async () => {
    const published: PopupsState[] = [];
    using _ = fixture.bus.subscribe(popupsChanged, (state) => published.push(state));
    fixture.popups.pause(fixture.clock.now() + hourMs);
    await fixture.add(message(1), message(2), message(3));
    fixture.clock.advance(secondMs);
    await fixture.delivered();
    expect(published.map(({ held: heldCount, pausedUntil }) => [heldCount, pausedUntil === null])).toEqual([
      [0, false],
      [3, false],
    ]);
  });
});

describe('bursts', () => {
  it('are summarized after three popups of a source in ten seconds', async () => {
    for (let id = 1; id <= 10; id += 1) await fixture.add(message(id, { source: 'mail' }));
    await fixture.add(message(11, { source: 'push' }));
    expect(fixture.notifier.titles).toEqual(['Message 1', 'Message 2', 'Message 3', 'Message 11']);
    fixture.clock.advance(10 * secondMs);
    expect(fixture.notifier.titles.slice(4)).toEqual(['7 new messages from mail']);
  });

  it('do not include three popups, or a fourth after ten seconds', async () => {
    await fixture.add(message(1), message(2), message(3));
    fixture.clock.advance(10 * secondMs);
    await fixture.add(message(4));
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.titles).toEqual(['Message 1', 'Message 2', 'Message 3', 'Message 4']);
  });

  it('shows fewer popups while a burst continues', async () => {
    for (let id = 1; id <= 3600; id += 1) {
      await fixture.add(message(id, { source: 'mail' }));
      fixture.clock.advance(secondMs);
    }
    expect(fixture.notifier.popups.length).toBeLessThan(25);
    fixture.clock.advance(hourMs);
    const counted = fixture.notifier.titles.map((title) =>
      Number(/^(\d+) new messages? from mail$/.exec(title)?.[1] ?? 1),
    );
    expect(counted.reduce((sum, count) => sum + count)).toBe(3600);
  });

  it('summarizes bursts of many sources in one popup', async () => {
    await fixture.add(...Array.from({ length: 500 }, (_, id) => message(id + 1, { source: `source ${String(id)}` })));
    expect(fixture.notifier.popups).toHaveLength(9);
    fixture.clock.advance(10 * secondMs);
    expect(fixture.notifier.titles.slice(9)).toEqual(['491 new messages']);
  });

  it('excludes read messages from the summary of a burst, and uses the highest priority', async () => {
    for (let id = 1; id <= 6; id += 1) await fixture.add(message(id, { priority: id === 6 ? 5 : 3 }));
    await fixture.change([5], { read: true });
    fixture.clock.advance(10 * secondMs);
    expect(fixture.notifier.popups.slice(3)).toMatchObject([
      { title: '2 new messages from push', urgency: 'critical' },
    ]);
  });
});

describe('urgent message', () => {
  const urgent = message(1, { priority: 5, title: 'Disk full' });

  it.each([{ read: true }, { done: true }, { removed: true }])('is repeated until %o', async (change) => {
    await fixture.add(urgent);
    fixture.clock.advance(15 * minuteMs);
    fixture.clock.advance(15 * minuteMs);
    expect(fixture.notifier.titles).toEqual(['Disk full', 'Disk full', 'Disk full']);
    await fixture.change([1], change);
    fixture.clock.advance(24 * hourMs);
    expect(fixture.notifier.popups).toHaveLength(3);
  });

  it('is repeated in quiet hours and after a restart', async () => {
    quietHours('00:00-24:00');
    await fixture.add(urgent);
    await restart();
    fixture.clock.advance(15 * minuteMs);
    expect(fixture.notifier.titles).toEqual(['Disk full']);
  });

  it('is repeated together with others', async () => {
    await fixture.add(urgent, message(2, { priority: 5, title: 'Pump off' }));
    fixture.clock.advance(15 * minuteMs);
    expect(fixture.notifier.popups.slice(2)).toMatchObject([
      { title: '2 urgent messages are unread', body: 'Disk full\nPump off', urgency: 'critical' },
    ]);
  });

  it('is shown once when repetition is disabled, also while it is held', async () => {
    await fixture.add(urgent);
    fixture.settings = { ...fixture.settings, repeatUrgentMinutes: 0 };
    fixture.popups.refresh();
    fixture.clock.advance(24 * hourMs);
    expect(fixture.notifier.popups).toHaveLength(1);
  });

  it('counts as seen when its popup is clicked', async () => {
    await fixture.add(urgent);
    fixture.notifier.answer('clicked');
    fixture.clock.advance(24 * hourMs);
    expect(fixture.notifier.popups).toHaveLength(1);
  });
});

describe('click', () => {
  it('opens the row in the inbox', async () => {
    await fixture.add(message(12));
    fixture.notifier.answer('clicked');
    expect(fixture.opened).toEqual(['/inbox/12']);
  });

  it('opens the link of the message when it is a web address', async () => {
    await fixture.add(message(1, { link: 'https://x.example/build/7' }));
    fixture.notifier.answer('clicked');
    await fixture.add(message(2, { link: 'file:///etc/passwd' }));
    fixture.notifier.answer('clicked');
    expect(fixture.opened).toEqual(['https://x.example/build/7', '/inbox/2']);
  });

  it('opens the inbox from a summary', async () => {
    fixture.popups.pause(fixture.clock.now() + hourMs);
    await fixture.add(message(1), message(2));
    fixture.popups.pause(null);
    fixture.notifier.answer('clicked');
    expect(fixture.opened).toEqual(['/inbox']);
  });

  it('marks the row as read with "Mark as read"', async () => {
    await fixture.add(message(4));
    fixture.notifier.answer({ action: 'read' });
    expect(fixture.markedRead).toEqual([4]);
    expect(fixture.opened).toEqual([]);
  });
});

it('logs a failing popup server once, and again after it has worked in between', async () => {
  const lines = (): number => fixture.log.filter((line) => line.includes('popup display failed')).length;
  fixture.notifier.first = { failed: 'no server' };
  await fixture.add(message(1));
  await fixture.add(message(2));
  expect(lines()).toBe(1);
  fixture.notifier.first = 'shown';
  await fixture.add(message(3));
  fixture.clock.advance(10 * secondMs);
  fixture.notifier.first = { failed: 'no server' };
  await fixture.add(message(4));
  expect(lines()).toBe(2);
});
