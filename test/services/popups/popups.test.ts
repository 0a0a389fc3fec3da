import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { popupsChanged, type PopupsState } from '../../../services/contracts/popups/popups.ts';
import { message, PopupsAtHand } from './support.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

let home: PopupsAtHand;

beforeEach(async () => {
  // A Tuesday, 11:00 in Berlin.
  home = new PopupsAtHand('2026-03-10T10:00:00Z');
  await home.start();
});
afterEach(() => home[Symbol.asyncDispose]());

async function restart(): Promise<void> {
  await home.stop();
  await home.start();
}

function quietHours(...lines: string[]): void {
  home.settings = { ...home.settings, quietHours: lines };
  home.popups.renew();
}

describe('priorities', () => {
  it('1 and 2 reach the inbox alone', async () => {
    await home.add(message(1, { priority: 1 }), message(2, { priority: 2 }));
    expect(home.notifier.shown).toEqual([]);
  });

  it('3 and 4 pop up, 5 as critical', async () => {
    await home.add(message(1), message(2, { priority: 4 }), message(3, { priority: 5 }));
    expect(home.notifier.shown.map(({ title, urgency }) => [title, urgency])).toEqual([
      ['Message 1', 'normal'],
      ['Message 2', 'normal'],
      ['Message 3', 'critical'],
    ]);
    expect(home.notifier.shown[0]).toMatchObject({ silent: false, group: 'push', body: 'body' });
  });

  it('do not matter where popups are switched off, or the row was read already', async () => {
    await home.add(message(1, { read: true }), message(2, { done: true }));
    home.settings = { ...home.settings, popups: false };
    await home.add(message(3, { priority: 5 }));
    expect(home.notifier.shown).toEqual([]);
    expect(home.popups.state().enabled).toBe(false);
  });

  it('are silent where the sound is switched off', async () => {
    home.settings = { ...home.settings, popupSound: false };
    await home.add(message(1));
    expect(home.notifier.shown[0]?.silent).toBe(true);
  });
});

describe('quiet hours', () => {
  it('hold priority 3 and sum it up in one popup at their end; 4 and 5 pass', async () => {
    quietHours('10:00-12:00');
    for (let id = 1; id <= 7; id += 1) await home.add(message(id, { source: id <= 5 ? 'mail' : 'push' }));
    await home.add(message(8, { priority: 4 }), message(9, { priority: 5 }));
    expect(home.notifier.titles).toEqual(['Message 8', 'Message 9']);
    expect(home.popups.state()).toMatchObject({ held: 7, quietUntil: Date.parse('2026-03-10T11:00:00Z') });
    await home.change([9], { read: true });

    home.clock.advance(hour - 1);
    expect(home.notifier.shown).toHaveLength(2);
    home.clock.advance(1);
    expect(home.notifier.shown.slice(2)).toMatchObject([
      { title: '7 messages while it was quiet', body: 'mail 5, push 2', urgency: 'normal' },
    ]);
    expect(home.popups.state()).toMatchObject({ held: 0, quietUntil: null });
    home.clock.advance(24 * hour);
    expect(home.notifier.shown).toHaveLength(3);
  });

  it('do not sum up what was read, put away or removed meanwhile', async () => {
    quietHours('10:00-12:00');
    await home.add(message(1), message(2), message(3), message(4));
    await home.change([1], { read: true });
    await home.change([2], { done: true });
    await home.change([3], { removed: true });
    expect(home.popups.state().held).toBe(1);
    home.clock.advance(hour);
    expect(home.notifier.titles).toEqual(['1 message while it was quiet']);
  });

  it('say nothing at their end when nothing was held', () => {
    quietHours('10:00-12:00');
    home.clock.advance(2 * hour);
    expect(home.notifier.shown).toEqual([]);
  });

  it('that are taken away end at once', async () => {
    quietHours('10:00-12:00');
    await home.add(message(1), message(2));
    quietHours();
    expect(home.notifier.titles).toEqual(['2 messages while it was quiet']);
  });

  it('survive a restart with what they hold', async () => {
    quietHours('10:00-12:00');
    await home.add(message(1), message(2));
    await restart();
    await home.add(message(3));
    expect(home.popups.state().held).toBe(3);
    home.clock.advance(hour);
    expect(home.notifier.titles).toEqual(['3 messages while it was quiet']);
    await restart();
    expect(home.notifier.shown).toEqual([]);
  });

  it('that ended while the host was down are summed up at its start', async () => {
    quietHours('10:00-12:00');
    await home.add(message(1), message(2));
    await home.stop();
    home.clock.advance(3 * hour);
    await home.start();
    expect(home.notifier.titles).toEqual(['2 messages while it was quiet']);
  });

  it('last until their time on the wall in the night to summer time', async () => {
    home.clock.advance(Date.parse('2026-03-28T22:00:00Z') - home.clock.now());
    quietHours('22:00-07:00');
    await home.add(message(1));
    home.clock.advance(Date.parse('2026-03-29T04:59:59Z') - home.clock.now());
    expect(home.notifier.shown).toEqual([]);
    home.clock.advance(second);
    expect(home.notifier.titles).toEqual(['1 message while it was quiet']);
  });

  it('count on where the file of what is held cannot be read', async () => {
    await home.stop();
    mkdirSync(join(home.folder, 'host'), { recursive: true });
    writeFileSync(join(home.folder, 'host', 'popups.json'), '{"held": 7');
    await home.start();
    quietHours('10:00-12:00');
    await home.add(message(1));
    expect(home.popups.state().held).toBe(1);
    expect(home.log.filter((line) => line.includes('held popups could not be read'))).toHaveLength(1);
  });

  it('go on, with one line in the log, where what is held cannot be saved', async () => {
    rmSync(join(home.folder, 'host'), { recursive: true, force: true });
    writeFileSync(join(home.folder, 'host'), 'a file where the folder should be');
    quietHours('10:00-12:00');
    await home.add(message(1));
    await expect.poll(() => home.log.filter((line) => line.includes('could not be saved'))).toHaveLength(1);
    await home.add(message(2));
    home.clock.advance(hour);
    expect(home.notifier.titles).toEqual(['2 messages while it was quiet']);
    await home.stop();
    expect(home.log.filter((line) => line.includes('could not be saved'))).toHaveLength(1);
  });

  it('hold a flood without counting any message twice or not at all', async () => {
    quietHours('10:00-12:00');
    await home.add(...Array.from({ length: 12_000 }, (_, id) => message(id + 1)));
    await restart();
    home.clock.advance(hour);
    expect(home.notifier.titles).toEqual(['12000 messages while it was quiet']);
  });
});

describe('the pause', () => {
  it('holds 3 until its end; 4 passes', async () => {
    const until = home.clock.now() + 30 * minute;
    expect(home.popups.pause(until)).toMatchObject({ pausedUntil: until });
    await home.add(message(1), message(2, { priority: 4 }));
    expect(home.notifier.titles).toEqual(['Message 2']);
    home.clock.advance(30 * minute);
    expect(home.notifier.titles).toEqual(['Message 2', '1 message while it was quiet']);
    expect(home.popups.state().pausedUntil).toBeNull();
  });

  it('survives a restart', async () => {
    const until = home.clock.now() + 30 * minute;
    home.popups.pause(until);
    await restart();
    expect(home.popups.state().pausedUntil).toBe(until);
  });

  it('that is ended by hand sums up at once', async () => {
    home.popups.pause(home.clock.now() + hour);
    await home.add(message(1), message(2));
    expect(home.popups.pause(null)).toMatchObject({ pausedUntil: null, held: 0 });
    expect(home.notifier.titles).toEqual(['2 messages while it was quiet']);
  });

  it('that ends in quiet hours leaves the sum to theirs', async () => {
    quietHours('10:00-12:00');
    home.popups.pause(home.clock.now() + 10 * minute);
    await home.add(message(1));
    home.clock.advance(20 * minute);
    expect(home.notifier.shown).toEqual([]);
    home.clock.advance(hour);
    expect(home.notifier.titles).toEqual(['1 message while it was quiet']);
  });

  it('lasts a year at most', () => {
    expect(home.popups.pause(Number.MAX_SAFE_INTEGER).pausedUntil).toBeLessThan(home.clock.now() + 367 * 24 * hour);
  });

  it('and the count of what it holds are told to pages and tray', async () => {
    const told: PopupsState[] = [];
    using _ = home.bus.subscribe(popupsChanged, (state) => told.push(state));
    home.popups.pause(home.clock.now() + hour);
    await home.add(message(1), message(2), message(3));
    home.clock.advance(second);
    await home.delivered();
    expect(told.map(({ held, pausedUntil }) => [held, pausedUntil === null])).toEqual([
      [0, false],
      [3, false],
    ]);
  });
});

describe('bursts', () => {
  it('of more than three in ten seconds from one source collapse', async () => {
    for (let id = 1; id <= 10; id += 1) await home.add(message(id, { source: 'mail' }));
    await home.add(message(11, { source: 'push' }));
    expect(home.notifier.titles).toEqual(['Message 1', 'Message 2', 'Message 3', 'Message 11']);
    home.clock.advance(10 * second);
    expect(home.notifier.titles.slice(4)).toEqual(['7 new from mail']);
  });

  it('do not collapse three, nor a fourth after ten seconds', async () => {
    await home.add(message(1), message(2), message(3));
    home.clock.advance(10 * second);
    await home.add(message(4));
    home.clock.advance(hour);
    expect(home.notifier.titles).toEqual(['Message 1', 'Message 2', 'Message 3', 'Message 4']);
  });

  it('that go on get fewer and fewer popups', async () => {
    for (let id = 1; id <= 3600; id += 1) {
      await home.add(message(id, { source: 'mail' }));
      home.clock.advance(second);
    }
    expect(home.notifier.shown.length).toBeLessThan(25);
    home.clock.advance(hour);
    const counted = home.notifier.titles.map((title) => Number(/^(\d+) new from mail$/.exec(title)?.[1] ?? 1));
    expect(counted.reduce((sum, count) => sum + count)).toBe(3600);
  });

  it('of many sources at once collapse into one', async () => {
    await home.add(...Array.from({ length: 500 }, (_, id) => message(id + 1, { source: `source ${String(id)}` })));
    expect(home.notifier.shown).toHaveLength(9);
    home.clock.advance(10 * second);
    expect(home.notifier.titles.slice(9)).toEqual(['491 new messages']);
  });

  it('do not count what was read meanwhile, and are as urgent as their most urgent message', async () => {
    for (let id = 1; id <= 6; id += 1) await home.add(message(id, { priority: id === 6 ? 5 : 3 }));
    await home.change([5], { read: true });
    home.clock.advance(10 * second);
    expect(home.notifier.shown.slice(3)).toMatchObject([{ title: '2 new from push', urgency: 'critical' }]);
  });
});

describe('an urgent message', () => {
  const urgent = message(1, { priority: 5, title: 'Disk full' });

  it.each([{ read: true }, { done: true }, { removed: true }])('pops up again until %o', async (change) => {
    await home.add(urgent);
    home.clock.advance(15 * minute);
    home.clock.advance(15 * minute);
    expect(home.notifier.titles).toEqual(['Disk full', 'Disk full', 'Disk full']);
    await home.change([1], change);
    home.clock.advance(24 * hour);
    expect(home.notifier.shown).toHaveLength(3);
  });

  it('pops up again in quiet hours and after a restart', async () => {
    quietHours('00:00-24:00');
    await home.add(urgent);
    await restart();
    home.clock.advance(15 * minute);
    expect(home.notifier.titles).toEqual(['Disk full']);
  });

  it('is reminded of together with others', async () => {
    await home.add(urgent, message(2, { priority: 5, title: 'Pump off' }));
    home.clock.advance(15 * minute);
    expect(home.notifier.shown.slice(2)).toMatchObject([
      { title: '2 urgent messages are unread', body: 'Disk full\nPump off', urgency: 'critical' },
    ]);
  });

  it('pops up once where that is set, also while it waits', async () => {
    await home.add(urgent);
    home.settings = { ...home.settings, repeatUrgentMinutes: 0 };
    home.popups.renew();
    home.clock.advance(24 * hour);
    expect(home.notifier.shown).toHaveLength(1);
  });

  it('is seen when its popup is clicked', async () => {
    await home.add(urgent);
    home.notifier.answer('clicked');
    home.clock.advance(24 * hour);
    expect(home.notifier.shown).toHaveLength(1);
  });
});

describe('a click', () => {
  it('opens the row in the inbox', async () => {
    await home.add(message(12));
    home.notifier.answer('clicked');
    expect(home.opened).toEqual(['/inbox/12']);
  });

  it('opens the link of the message where it is one of the web', async () => {
    await home.add(message(1, { link: 'https://x.example/build/7' }));
    home.notifier.answer('clicked');
    await home.add(message(2, { link: 'file:///etc/passwd' }));
    home.notifier.answer('clicked');
    expect(home.opened).toEqual(['https://x.example/build/7', '/inbox/2']);
  });

  it('on a sum opens the inbox', async () => {
    home.popups.pause(home.clock.now() + hour);
    await home.add(message(1), message(2));
    home.popups.pause(null);
    home.notifier.answer('clicked');
    expect(home.opened).toEqual(['/inbox']);
  });

  it('on "Mark as read" does that', async () => {
    await home.add(message(4));
    home.notifier.answer({ action: 'read' });
    expect(home.markedRead).toEqual([4]);
    expect(home.opened).toEqual([]);
  });
});

it('a popup server that fails is said once in the log, and once more after it worked again', async () => {
  const lines = (): number => home.log.filter((line) => line.includes('popups cannot be shown')).length;
  home.notifier.first = { failed: 'no server' };
  await home.add(message(1));
  await home.add(message(2));
  expect(lines()).toBe(1);
  home.notifier.first = 'shown';
  await home.add(message(3));
  home.clock.advance(10 * second);
  home.notifier.first = { failed: 'no server' };
  await home.add(message(4));
  expect(lines()).toBe(2);
});
