import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pushPopupRules, type PushPopupRules, type PushRule } from '../../../services/contracts/push/rules.ts';
import type { InboxItem } from '../../../services/contracts/inbox/api.ts';
import { message, PopupsAtHand } from './support.ts';

const minute = 60_000;
const hour = 60 * minute;

let home: PopupsAtHand;

beforeEach(async () => {
  // A Tuesday, 11:00 in Berlin.
  home = new PopupsAtHand('2026-03-10T10:00:00Z');
  await home.start();
});
afterEach(() => home[Symbol.asyncDispose]());

async function follow(...rules: (Partial<PushRule> & { topics: string })[]): Promise<void> {
  const whole: PushPopupRules = {
    rules: rules.map((rule) => ({ mode: 'normal', quiet: [], repeatMinutes: null, ...rule })),
    zone: 'Europe/Berlin',
    follows: 'ada',
  };
  home.bus.publish(pushPopupRules, whole);
  await home.delivered();
}
async function followNobody(): Promise<void> {
  home.bus.publish(pushPopupRules, { rules: [], zone: null, follows: null });
  await home.delivered();
}
function ownHours(...quietHours: string[]): void {
  home.settings = { ...home.settings, quietHours };
  home.popups.renew();
}
const from = (topic: string, id: number, fields: Partial<InboxItem> = {}) => message(id, { topic, ...fields });

describe('the rules of push topics', () => {
  it('hold 3 of their topics until each one’s end, and sum it up by topic; 4 passes', async () => {
    await follow({ topics: '*', quiet: ['10:00-12:00'] }, { topics: 'doors', quiet: ['10:00-13:00'] });
    await home.add(from('news', 1), from('news', 2), from('logs', 3), from('doors', 4));
    await home.add(from('news', 5, { priority: 4 }));
    expect(home.notifier.titles).toEqual(['Message 5']);
    expect(home.popups.state().held).toBe(4);
    await home.change([2], { read: true });
    home.clock.advance(hour - 1);
    expect(home.notifier.shown).toHaveLength(1);
    home.clock.advance(1);
    expect(home.notifier.shown.at(-1)).toMatchObject({
      title: '2 messages while it was quiet',
      body: 'news 1, logs 1',
    });
    home.clock.advance(hour);
    expect(home.notifier.shown.at(-1)).toMatchObject({ title: '1 message while it was quiet', body: 'doors 1' });
    expect(home.popups.state().held).toBe(0);
  });

  it('make a topic silent, or let it through the hours of all topics, though not through a pause', async () => {
    await follow(
      { topics: '*', quiet: ['10:00-12:00'] },
      { topics: 'doors', mode: 'always' },
      { topics: 'noise*', mode: 'silent' },
    );
    await home.add(from('doors', 1), from('noise-1', 2, { priority: 5 }), from('news', 3));
    expect(home.notifier.titles).toEqual(['Message 1']);
    home.popups.pause(home.clock.now() + 3 * hour);
    await home.add(from('doors', 4));
    expect(home.notifier.titles).toEqual(['Message 1']);
    home.clock.advance(3 * hour);
    expect(home.notifier.shown.at(-1)).toMatchObject({ body: 'doors 1, news 1' });
  });

  it('hold what has no topic by the hours of all topics', async () => {
    await follow({ topics: '*', quiet: ['10:00-12:00'] });
    await home.add(message(1, { source: 'mail' }), message(2, { source: 'uptime', priority: 4 }));
    expect(home.notifier.titles).toEqual(['Message 2']);
    expect(home.popups.state().quietUntil).toBe(home.clock.now() + hour);
    home.clock.advance(hour);
    expect(home.notifier.shown.at(-1)).toMatchObject({ title: '1 message while it was quiet', body: 'mail 1' });
    expect(home.popups.state().quietUntil).toBeNull();
  });

  it('stand in place of the own quiet hours of popups, which count again when nobody is followed', async () => {
    ownHours('10:00-12:00');
    await follow({ topics: 'doors', quiet: ['10:00-13:00'] });
    await home.add(message(1, { source: 'mail' }), from('news', 2));
    expect(home.notifier.titles).toEqual(['Message 1', 'Message 2']);
    await home.add(from('doors', 3));
    expect(home.notifier.shown).toHaveLength(2);
    await followNobody();
    await home.add(message(4, { source: 'mail' }));
    expect(home.notifier.shown).toHaveLength(2);
    home.clock.advance(hour);
    expect(home.notifier.shown.at(-1)).toMatchObject({ title: '2 messages while it was quiet' });
  });

  it('survive a restart with what they hold, before push has told them again', async () => {
    await follow({ topics: '*', quiet: ['10:00-12:00'] });
    await home.add(from('news', 1));
    await home.stop();
    await home.start();
    await home.add(from('news', 2));
    expect(home.notifier.shown).toEqual([]);
    await home.stop();
    home.clock.advance(2 * hour);
    await home.start();
    expect(home.notifier.titles).toEqual(['2 messages while it was quiet']);
  });

  it('that change let go at once what they no longer hold, and forget what they make silent', async () => {
    await follow({ topics: '*', quiet: ['10:00-12:00'] });
    await home.add(from('news', 1), from('doors', 2));
    await follow({ topics: 'doors', mode: 'silent' });
    expect(home.notifier.shown).toMatchObject([{ title: '1 message while it was quiet', body: 'news 1' }]);
    expect(home.popups.state().held).toBe(0);
  });

  it('end at the same time on the wall in the night summer time begins', async () => {
    await home.stop();
    home.clock.set(Date.parse('2026-03-29T00:30:00Z'));
    await home.start();
    await follow({ topics: '*', quiet: ['22:00-07:00'] });
    await home.add(from('news', 1));
    home.clock.advance(Date.parse('2026-03-29T04:59:59Z') - home.clock.now());
    expect(home.notifier.shown).toEqual([]);
    home.clock.advance(1000);
    expect(home.notifier.titles).toEqual(['1 message while it was quiet']);
  });

  it('give urgent messages a repetition of their own, or none', async () => {
    await follow({ topics: 'fire', repeatMinutes: 2 }, { topics: 'once', repeatMinutes: 0 });
    const urgent = { priority: 5 } as const;
    await home.add(from('fire', 1, urgent), from('once', 2, urgent), from('other', 3, urgent));
    home.clock.advance(14 * minute);
    expect(home.notifier.titles.filter((title) => title === 'Message 1')).toHaveLength(8);
    home.clock.advance(minute);
    expect(home.notifier.titles.filter((title) => title === 'Message 3')).toHaveLength(2);
    expect(home.notifier.titles.filter((title) => title === 'Message 2')).toHaveLength(1);
    await home.change([1], { read: true });
    home.settings = { ...home.settings, popups: false };
    home.popups.renew();
    const before = home.notifier.shown.length;
    home.clock.advance(hour);
    expect(home.notifier.shown).toHaveLength(before);
  });
});
