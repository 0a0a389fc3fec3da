import { describe, expect, it } from 'vitest';
import { Problem } from '../../../../services/contracts/problem.ts';
import { runInLanguage } from '../../../../services/kit/language.ts';
import { parseRecurrence } from '../../../../services/push/domain/cron/rule.ts';
import { describeRecurrence } from '../../../../services/push/domain/cron/description.ts';

const toSeconds = (text: string): number => Date.parse(text) / 1000;
const formatTime = (time: number | undefined): string =>
  time === undefined ? 'never' : new Date(time * 1000).toISOString().slice(0, 16);

function listRuns(rule: string, zone: string, from: string, count: number): string[] {
  const recurrence = parseRecurrence({ rule, zone });
  const times: string[] = [];
  let time = toSeconds(from);
  for (let turn = 0; turn < count; turn += 1) {
    time = recurrence.after(time) ?? Number.NaN;
    times.push(formatTime(time));
  }
  return times;
}

describe('recurrence rule', () => {
  it('keeps the local hour when summer time begins and ends', () => {
    expect(listRuns('0 8 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T06:00',
      '2026-03-30T06:00',
    ]);
    expect(listRuns('0 8 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T07:00',
      '2026-10-26T07:00',
    ]);
  });

  it('runs after a skipped hour, and once in a repeated hour', () => {
    expect(listRuns('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ]);
    expect(listRuns('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    expect(listRuns('30 2,14 * * *', 'Europe/Berlin', '2026-10-24T13:00Z', 3)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T13:30',
      '2026-10-26T01:30',
    ]);
  });

  it('runs every half hour through both changes', () => {
    expect(listRuns('*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:45Z', 5)).toEqual([
      ...['2026-10-25T00:00', '2026-10-25T00:30', '2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'],
    ]);
    expect(listRuns('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:15Z', 3)).toEqual([
      ...['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30'],
    ]);
  });

  it('finds the last time up to and including a moment', () => {
    const daily = parseRecurrence({ rule: '0 8 * * *', zone: 'UTC' });
    expect(formatTime(daily.lastUntil(toSeconds('2026-01-05T08:00Z')))).toBe('2026-01-05T08:00');
    expect(formatTime(daily.lastUntil(toSeconds('2026-01-05T07:59Z')))).toBe('2026-01-04T08:00');
  });

  it('stays between its start and end', () => {
    const [starts, ends] = [toSeconds('2026-01-03T08:00Z'), toSeconds('2026-01-04T08:00Z')];
    const rule = parseRecurrence({ rule: '0 8 * * *', zone: 'UTC', starts, ends });
    expect(formatTime(rule.after(toSeconds('2025-01-01T00:00Z')))).toBe('2026-01-03T08:00');
    expect(formatTime(rule.after(starts))).toBe('2026-01-04T08:00');
    expect(formatTime(rule.after(ends))).toBe('never');
    expect(formatTime(rule.lastUntil(toSeconds('2027-01-01T00:00Z')))).toBe('2026-01-04T08:00');
    expect(formatTime(rule.lastUntil(starts - 60))).toBe('never');
  });

  it('reports a rule that never occurs without delay', () => {
    expect(parseRecurrence({ rule: '0 0 30 2 *', zone: 'UTC' }).after(0)).toBeUndefined();
  });

  it.each([
    ['* * * * * *', 'UTC', 'rule'],
    ['61 * * * *', 'UTC', 'rule'],
    ['0 8 * *', 'UTC', 'rule'],
    ['@reboot', 'UTC', 'rule'],
    ['0 8 * * * ; rm', 'UTC', 'rule'],
    ['2030-01-01T00:00:00', 'UTC', 'rule'],
    ['0 8 * * *', 'Mars/Olympus', 'zone'],
  ])('refuses an invalid rule: %s in %s', (rule, zone, field) => {
    let fault: unknown;
    try {
      parseRecurrence({ rule, zone });
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(Problem);
    expect(Object.keys((fault as Problem).fields)).toEqual([field]);
  });
});

it.each([
  ['0 8 * * *', 'Every day at 08:00'],
  ['30 8,18 * * 1-5', 'Monday to Friday at 08:30 and 18:30'],
  ['0 9 * * 1,4', 'Every Monday and Thursday at 09:00'],
  ['0 9 * * SUN', 'Every Sunday at 09:00'],
  ['0 * * * *', 'Every hour, on the hour'],
  ['20 * * * *', 'Every hour at minute 20'],
  ['0 */6 * * *', 'Every 6 hours, on the hour'],
  ['15 */2 * * *', 'Every 2 hours at minute 15'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['* * * * *', 'Every minute'],
  ['*/10 8-17 * * 1-5', 'Every 10 minutes between 08:00 and 17:59, Monday to Friday'],
  ['0 7 1 * *', 'The 1st of each month at 07:00'],
  ['0 7 1,15 * *', 'The 1st and 15th of each month at 07:00'],
  ['0 7 L * *', 'The last day of each month at 07:00'],
  ['0 7 * * 5#2', 'The 2nd Friday of each month at 07:00'],
  ['0 7 * JAN,7 *', 'Every day at 07:00 in January and July'],
  ['0 7 * */3 *', 'Every day at 07:00 in January, April, July, and October'],
  ['0 7 * 4-8 *', 'Every day at 07:00, April to August'],
  ['0 7 * * */2', 'Every Sunday, Tuesday, Thursday, and Saturday at 07:00'],
  ['0 7 * * FRI-SUN', 'Friday to Sunday at 07:00'],
  ['20 8-17 * * *', 'Every hour from 08:20 to 17:20'],
  ['*/10 */2 * * *', 'Every 10 minutes in every 2nd hour'],
  ['0-30/10 * * * *', 'Every hour at minutes 0, 10, 20, and 30'],
  ['0 8 1 * 1', 'The 1st of each month or every Monday at 08:00'],
  ['@weekly', 'Every Sunday at 00:00'],
])('describes %s as "%s"', (rule, description) => {
  expect(describeRecurrence(rule)).toBe(description);
});

it.each([
  ['de', '0 7 * */3 *', 'Jeden Tag um 07:00 im Januar, April, Juli und Oktober'],
  ['de', '*/10 8-17 * * 1-5', 'Alle 10 Minuten zwischen 08:00 und 17:59, von Montag bis Freitag'],
  ['fr', '0 7 1,15 1-6/2 *', 'Les 1er et 15 de chaque mois à 07:00 en janvier, mars et mai'],
  ['fr', '*/10 */2 * * *', 'Toutes les 10 minutes, une heure sur 2'],
  ['es', '0 7 * 4-8 5#2', 'El 2.º viernes de cada mes a las 07:00, de abril a agosto'],
])('describes in %s the rule %s as "%s"', async (language, rule, description) => {
  expect(await runInLanguage({ language, locale: language }, () => describeRecurrence(rule))).toBe(description);
});
