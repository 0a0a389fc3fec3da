import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pushPopupRules, type PushPopupRules, type PushRule } from '../../../services/contracts/push/rules.ts';
import type { InboxItem } from '../../../services/contracts/inbox/api.ts';
import { message, PopupsFixture } from './support.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let fixture: PopupsFixture;

beforeEach(async () => {
  // A Tuesday, 11:00 in Berlin.
  fixture = new PopupsFixture('2026-03-10T10:00:00Z');
  await fixture.start();
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function publishRules(...rules: (Partial<PushRule> & { topics: string })[]): Promise<void> {
  const rulesPayload: PushPopupRules = {
    rules: rules.map((rule) => ({ mode: 'normal', quiet: [], repeatMinutes: null, ...rule })),
    zone: 'Europe/Berlin',
    muted: [],
    follows: 'ada',
  };
  fixture.bus.publish(pushPopupRules, rulesPayload);
  await fixture.delivered();
}
async function clearRules(): Promise<void> {
  fixture.bus.publish(pushPopupRules, { rules: [], zone: null, muted: [], follows: null });
  await fixture.delivered();
}
function setComputerHours(...quietHours: string[]): void {
  fixture.settings = { ...fixture.settings, quietHours };
  fixture.popups.refresh();
}
const topicMessage = (topic: string, id: number, fields: Partial<InboxItem> = {}) => message(id, { topic, ...fields });

describe('quiet-hours rules of push topics', () => {
  it('holds messages of a muted topic until its end, also while only the own hours of the computer apply', async () => {
    const until = fixture.clock.now() + hourMs;
    fixture.bus.publish(pushPopupRules, { rules: [], zone: null, muted: [{ topic: 'news', until }], follows: null });
    await fixture.delivered();
    await fixture.add(topicMessage('news', 1, { priority: 4 }), topicMessage('logs', 2));
    expect(fixture.notifier.titles).toEqual(['Message 2']);
    await fixture.add(topicMessage('news', 3, { priority: 5 }));
    expect(fixture.notifier.titles).toEqual(['Message 2', 'Message 3']);
    expect(fixture.popups.state().held).toBe(1);
    fixture.clock.advance(hourMs);
    expect(fixture.popups.state().held).toBe(0);
  });

  it("holds priority 3 until the end of each topic's hours and summarizes by topic, and shows 4", async () => {
    await publishRules({ topics: '*', quiet: ['10:00-12:00'] }, { topics: 'doors', quiet: ['10:00-13:00'] });
    await fixture.add(
      topicMessage('news', 1),
      topicMessage('news', 2),
      topicMessage('logs', 3),
      topicMessage('doors', 4),
    );
    await fixture.add(topicMessage('news', 5, { priority: 4 }));
    expect(fixture.notifier.titles).toEqual(['Message 5']);
    expect(fixture.popups.state().held).toBe(4);
    await fixture.change([2], { read: true });
    fixture.clock.advance(hourMs - 1);
    expect(fixture.notifier.popups).toHaveLength(1);
    fixture.clock.advance(1);
    expect(fixture.notifier.popups.at(-1)).toMatchObject({
      title: '2 messages during quiet hours',
      body: 'news 1, logs 1',
    });
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.popups.at(-1)).toMatchObject({
      title: '1 message during quiet hours',
      body: 'doors 1',
    });
    expect(fixture.popups.state().held).toBe(0);
  });

  it('silences a topic, or exempts it from the hours of all topics, but not from a pause', async () => {
    await publishRules(
      { topics: '*', quiet: ['10:00-12:00'] },
      { topics: 'doors', mode: 'always' },
      { topics: 'noise*', mode: 'silent' },
    );
    await fixture.add(topicMessage('doors', 1), topicMessage('noise-1', 2, { priority: 5 }), topicMessage('news', 3));
    expect(fixture.notifier.titles).toEqual(['Message 1']);
    fixture.popups.pause(fixture.clock.now() + 3 * hourMs);
    await fixture.add(topicMessage('doors', 4));
    expect(fixture.notifier.titles).toEqual(['Message 1']);
    fixture.clock.advance(3 * hourMs);
    expect(fixture.notifier.popups.at(-1)).toMatchObject({ body: 'doors 1, news 1' });
  });

  it('holds messages without topic by the hours of all topics', async () => {
    await publishRules({ topics: '*', quiet: ['10:00-12:00'] });
    await fixture.add(message(1, { source: 'mail' }), message(2, { source: 'uptime', priority: 4 }));
    expect(fixture.notifier.titles).toEqual(['Message 2']);
    expect(fixture.popups.state().quietUntil).toBe(fixture.clock.now() + hourMs);
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.popups.at(-1)).toMatchObject({
      title: '1 message during quiet hours',
      body: 'mail 1',
    });
    expect(fixture.popups.state().quietUntil).toBeNull();
  });

  it('replaces the quiet hours of the computer, which apply again when no account is followed', async () => {
    setComputerHours('10:00-12:00');
    await publishRules({ topics: 'doors', quiet: ['10:00-13:00'] });
    await fixture.add(message(1, { source: 'mail' }), topicMessage('news', 2));
    expect(fixture.notifier.titles).toEqual(['Message 1', 'Message 2']);
    await fixture.add(topicMessage('doors', 3));
    expect(fixture.notifier.popups).toHaveLength(2);
    await clearRules();
    await fixture.add(message(4, { source: 'mail' }));
    expect(fixture.notifier.popups).toHaveLength(2);
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.popups.at(-1)).toMatchObject({ title: '2 messages during quiet hours' });
  });

  it('keeps held messages across a restart, before push has published its rules', async () => {
    await publishRules({ topics: '*', quiet: ['10:00-12:00'] });
    await fixture.add(topicMessage('news', 1));
    await fixture.stop();
    await fixture.start();
    await fixture.add(topicMessage('news', 2));
    expect(fixture.notifier.popups).toEqual([]);
    await fixture.stop();
    fixture.clock.advance(2 * hourMs);
    await fixture.start();
    expect(fixture.notifier.titles).toEqual(['2 messages during quiet hours']);
  });

  it('releases messages that changed rules no longer hold, and drops those they silence', async () => {
    await publishRules({ topics: '*', quiet: ['10:00-12:00'] });
    await fixture.add(topicMessage('news', 1), topicMessage('doors', 2));
    await publishRules({ topics: 'doors', mode: 'silent' });
    expect(fixture.notifier.popups).toMatchObject([{ title: '1 message during quiet hours', body: 'news 1' }]);
    expect(fixture.popups.state().held).toBe(0);
  });

  it('ends the hours of topics at their local time when summer time begins', async () => {
    await fixture.stop();
    fixture.clock.set(Date.parse('2026-03-29T00:30:00Z'));
    await fixture.start();
    await publishRules({ topics: '*', quiet: ['22:00-07:00'] });
    await fixture.add(topicMessage('news', 1));
    fixture.clock.advance(Date.parse('2026-03-29T04:59:59Z') - fixture.clock.now());
    expect(fixture.notifier.popups).toEqual([]);
    fixture.clock.advance(1000);
    expect(fixture.notifier.titles).toEqual(['1 message during quiet hours']);
  });

  it('sets the repetition of urgent messages, or disables it', async () => {
    await publishRules({ topics: 'fire', repeatMinutes: 2 }, { topics: 'once', repeatMinutes: 0 });
    const urgent = { priority: 5 } as const;
    await fixture.add(
      topicMessage('fire', 1, urgent),
      topicMessage('once', 2, urgent),
      topicMessage('other', 3, urgent),
    );
    fixture.clock.advance(14 * minuteMs);
    expect(fixture.notifier.titles.filter((title) => title === 'Message 1')).toHaveLength(8);
    fixture.clock.advance(minuteMs);
    expect(fixture.notifier.titles.filter((title) => title === 'Message 3')).toHaveLength(2);
    expect(fixture.notifier.titles.filter((title) => title === 'Message 2')).toHaveLength(1);
    await fixture.change([1], { read: true });
    fixture.settings = { ...fixture.settings, popups: false };
    fixture.popups.refresh();
    const shownBefore = fixture.notifier.popups.length;
    fixture.clock.advance(hourMs);
    expect(fixture.notifier.popups).toHaveLength(shownBefore);
  });
});
