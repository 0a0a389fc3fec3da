import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateJsonQuery } from '../../../services/uptime/check/json-query.ts';
import { openTarget, openUptime, type Target, type UptimeRig } from './rig.ts';

const strings = JSON.stringify(Array.from({ length: 250_000 }, () => 'a'));
const query = (text: string, path: string, operator = '==', expected = '1') =>
  evaluateJsonQuery({ text, path, operator, expected });

describe('JSON query', () => {
  it.each([
    ['a huge range', '{}', '[1..9999999]'],
    ['ranges in ranges', '{}', '[1..9999].[1..9999]'],
    ['sorting 250,000 strings', strings, '$sort($)'],
    ['sorting with a function', strings, '$sort($, function($l, $r) { $l > $r })'],
    ['strings that double', '{}', '($f := function($s, $n) { $n = 0 ? $s : $f($s & $s, $n - 1) }; $f("ab", 40))'],
    ['endless recursion', '{}', '($f := function($n) { 1 + $f($n + 1) }; $f(0))'],
    ['endless tail recursion', '{}', '($f := function($n) { $f($n + 1) }; $f(0))'],
    ['a regular expression that backtracks', '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"', '$match($, /^(a+)+$/)'],
    ['replacement that backtracks', '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"', '$replace($, /(a|a)*$/, "b")'],
    ['padding to a billion', '{}', '$pad("x", 1000000000)'],
    ['evaluated ranges', '{}', '$eval("[1..9999999].[1..999]")'],
    ['mapped ranges', '{}', '$map([1..9999999], function($v) { [1..9999999] })'],
    ['reduced joins', '{}', '$reduce([1..60], function($i, $j) { $i & $i & $i }, "abc")'],
    [
      'closures that refer to themselves',
      '{}',
      '($a := {"f": function() { $a }}; $map([1..9999999], function($v) { $a }))',
    ],
    ['a path that looks plain', '{}', `${'a'.repeat(60)}!`],
  ])('fails without affecting the process: %s', async (_case, text, path) => {
    const failure = await query(text, path).then(
      ({ holds }) => (holds ? 'holds' : 'compared'),
      (error: unknown) => (error as Error).name,
    );
    expect(['CheckFailure', 'compared']).toContain(failure);
    expect(await query('{"status":"ok"}', 'status', '==', 'ok')).toMatchObject({ holds: true });
  });

  it('reads members, elements and expressions', async () => {
    const text = '{"items":[{"n":1},{"n":2}],"name":"x"}';
    expect(await query(text, 'items[1].n', '==', '2')).toMatchObject({ holds: true, value: '2' });
    expect(await query(text, 'items.n', '==', '[1,2]')).toMatchObject({ holds: true });
    expect(await query(text, '$sum(items.n)', '>=', '3')).toMatchObject({ holds: true });
    expect(await query(text, 'name', 'contains', 'y')).toMatchObject({ holds: false });
    await expect(query(text, 'missing')).rejects.toThrow('found nothing');
  });

  it('ignores a byte order mark', async () => {
    expect(await query('\uFEFF{"status":"ok"}', 'status', '==', 'ok')).toMatchObject({ holds: true });
  });
});

describe('monitor with a hostile JSON query', () => {
  let rig: UptimeRig;
  let target: Target;
  beforeAll(async () => {
    target = await openTarget((_request, response) => void response.end(strings));
    rig = await openUptime();
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  it('is down without delaying other monitors', async () => {
    const json = { type: 'json-query', url: target.url, interval: 60, expectedValue: '1' };
    const range = await rig.add({ ...json, name: 'range', jsonPath: '[1..9999999]' });
    const sort = await rig.add({ ...json, name: 'sort', jsonPath: '$sort($)' });
    const well = await rig.add({ type: 'http', name: 'well', url: target.url, interval: 60 });
    expect((await rig.until(range.id, 0)).msg).toMatch(/JSON query/);
    expect((await rig.until(sort.id, 0)).msg).toMatch(/JSON query/);
    await rig.until(well.id, 1);
  });
});
