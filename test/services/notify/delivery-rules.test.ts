import { describe, expect, it } from 'vitest';
import { createWallClock } from '../../../services/contracts/quiet-hours.ts';
import { joinMessages } from '../../../services/notify/domain/digest.ts';
import type { Message } from '../../../services/notify/domain/message.ts';
import { noRules, planDelivery, extractRules, withRules } from '../../../services/notify/domain/delivery-rules.ts';

const hour = 3_600_000;
const wall = createWallClock('UTC');
/** Start of the tests, a Monday. */
const monday = Date.UTC(2026, 0, 5);

function getRules(url: string) {
  const result = extractRules(url);
  if (typeof result === 'string') throw new Error(result);
  return result;
}

describe('the rules of a destination', () => {
  it('are extracted from its URL and can be restored unchanged', () => {
    const url = 'json://h/p?x=1&quiet=22:00-07:00,sat+sun%2023:00-09:00&rate=10/1h&+Header=y&digest=15m';
    const { url: urlWithoutRules, rules, written } = getRules(url);
    expect(urlWithoutRules).toBe('json://h/p?x=1&+Header=y');
    expect(rules).toEqual({
      quiet: ['22:00-07:00', 'sat sun 23:00-09:00'],
      rate: { count: 10, windowMs: hour },
      digestMs: 900_000,
    });
    expect(getRules(withRules(urlWithoutRules, written)).rules).toEqual(rules);
    expect(getRules('json://h?quiet=1:00-2:00').url).toBe('json://h');
    expect(getRules('json://h').rules).toBe(noRules);
  });

  it.each(['quiet=always', 'rate=0/1h', 'rate=5', 'rate=5/2d', 'digest=0s', 'digest=soon', 'quiet=%E0%A4%A'])(
    'are refused when they are invalid: %s',
    (rule) => expect(extractRules(`json://h?${rule}`)).toMatch(/^Enter /),
  );

  it('delays notifications in quiet hours, but not warnings and failures', () => {
    const { rules } = getRules('json://h?quiet=22:00-07:00');
    const night = monday + 23 * hour;
    const morning = monday + 31 * hour;
    expect(planDelivery(rules, 'info', 0, night, wall)).toEqual({
      runAt: morning,
      digest: undefined,
      orderSuffix: ':quiet',
    });
    expect(planDelivery(rules, 'failure', 0, night, wall)).toEqual({
      runAt: undefined,
      digest: undefined,
      orderSuffix: '',
    });
    expect(planDelivery(rules, 'info', 0, morning, wall).runAt).toBeUndefined();
    const always = getRules('json://h?quiet=00:00-24:00').rules;
    expect(planDelivery(always, 'info', 0, night, wall).runAt).toBe(night + 24 * hour);
  });

  it('combines notifications above the rate, or all of a window', () => {
    const now = monday + 10 * 60_000;
    const rated = getRules('json://h?rate=2/1h').rules;
    expect(planDelivery(rated, 'failure', 1, now, wall).runAt).toBeUndefined();
    expect(planDelivery(rated, 'failure', 2, now, wall)).toEqual({
      ...{ runAt: monday + hour, digest: String(monday + hour), orderSuffix: '' },
    });
    const joined = getRules('json://h?digest=15m&quiet=00:00-06:00').rules;
    expect(planDelivery(joined, 'failure', 0, now, wall).runAt).toBe(monday + 15 * 60_000);
    expect(planDelivery(joined, 'info', 0, now, wall)).toMatchObject({
      runAt: monday + 6 * hour,
      orderSuffix: ':quiet',
    });
  });
});

describe('a digest', () => {
  const message = (title: string, overrides: Partial<Message> = {}): Message => ({
    ...{
      id: title,
      title,
      body: 'B',
      type: 'info',
      format: 'text',
      tags: [],
      link: undefined,
      source: 'mail',
      time: 1,
    },
    ...overrides,
  });

  it('combines all into one notification with the highest severity, and keeps a single one unchanged', () => {
    const one = message('a');
    expect(joinMessages([one], 'x')).toBe(one);
    expect(joinMessages([], 'x')).toBeUndefined();
    expect(
      joinMessages([one, message('', { body: '<p>x</p>', format: 'html' }), message('c', { type: 'failure' })], 'x'),
    ).toMatchObject({
      id: 'x',
      title: '3 notifications',
      body: '• a: B\n• x\n• c: B',
      type: 'failure',
      source: 'mail',
    });
  });

  it('is limited in length', () => {
    const many = Array.from({ length: 200 }, (_, index) => message(`n${String(index)}`, { body: 'x'.repeat(5000) }));
    const joined = joinMessages(many, 'x');
    expect(joined?.body.length).toBeLessThan(16_000);
    expect(joined?.body.endsWith('and 150 more')).toBe(true);
    const joinedEmoji = joinMessages([message('a', { body: `x${'🎉'.repeat(500)}` }), message('bb')], 'x');
    const even = joinMessages([message('aa', { body: `x${'🎉'.repeat(500)}` }), message('bb')], 'x');
    expect([joinedEmoji?.body.isWellFormed(), even?.body.isWellFormed()]).toEqual([true, true]);
  });
});
