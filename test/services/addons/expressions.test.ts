import * as m from '#messages/addons-problems';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../services/addons/domain/expression/evaluate.ts';
import { buildVariables } from '../../../services/addons/domain/expression/variables.ts';
import { parseExpression } from '../../../services/addons/domain/expression/parse.ts';
import { createScope, type Value } from '../../../services/addons/domain/expression/value.ts';
import { runPipeline, type PipelineResult } from '../../../services/addons/domain/pipeline/pipeline.ts';
import { parseTitleRequest, type TitleRequest } from '../../../services/addons/domain/title-request.ts';
import { readConfig } from '../../../services/addons/domain/read-config.ts';
import { readStreams } from '../../../services/addons/domain/read-stream.ts';
import { parseRelease } from '../../../services/addons/domain/release.ts';
import type { ParsedStream } from '../../../services/addons/domain/stream.ts';
import { toClientStream } from '../../../services/addons/domain/pipeline/output.ts';
import { compileFormat } from '../../../services/addons/domain/format/predefined.ts';
import { cpuTime } from '../../support/cpu-time.ts';
import { buildConfig } from './rig.ts';

const addon = {
  ...{ instanceId: 'a0', presetType: 'custom', name: 'Up', index: 0, manifestUrl: '', library: false },
  ...{ formatPassthrough: false, resultPassthrough: false, pinPosition: undefined },
} as const;
const stream = (mark: string, filename: string, gigabytes: number, seeders: number, more = ''): object => ({
  name: `${mark} Up`,
  description: `${filename}\n👤 ${String(seeders)} ${more}`,
  url: `http://h.example/${filename}`,
  behaviorHints: { filename, videoSize: gigabytes * 2 ** 30 },
});
const streams: readonly ParsedStream[] = readStreams(
  [
    stream('[RD+]', 'A.2019.2160p.BluRay.REMUX.DV.TrueHD.Atmos.7.1.x265-AAA.mkv', 60, 12, '🇬🇧 / 🇫🇷'),
    stream('[RD+]', 'B.2019.1080p.WEB-DL.x264-BBB.mkv', 8, 50),
    stream('[TB download]', 'C.2019.1080p.WEBRip.x264-CCC.mkv', 4, 5),
    stream('[TB+]', 'D.2019.720p.HDTV.x264-DDD.mkv', 2, 0),
    { infoHash: 'a'.repeat(40), title: 'E.S01E01-E02.2019.2160p.WEB-DL.mkv\n👤 99 💾 20 GB' },
  ],
  addon,
  parseRelease,
).streams;
const toLetters = (list: readonly ParsedStream[]): string => list.map(({ filename }) => filename?.[0] ?? '?').join('');
const scope = (names: Readonly<Record<string, Value>> = {}) =>
  createScope({ ...buildVariables(parseTitleRequest('movie', 'tt1'), streams), ...names });
const value = (text: string, names: Readonly<Record<string, Value>> = {}): unknown => {
  const result = evaluate(parseExpression(text), scope(names));
  return Array.isArray(result) && result.every((item) => typeof item === 'object') ? toLetters(result as any) : result;
};

describe('stream expression language', () => {
  it.each<[string, unknown]>([
    ["count(resolution(cached(streams), '2160p'))", 1],
    ["resolution(streams, '2160p', '1080p')", 'ABCE'],
    ["quality(streams, 'bluray remux')", 'A'],
    ["encode(streams, 'AVC')", 'BCD'],
    ["type(streams, 'p2p')", 'E'],
    ["visualTag(streams, 'DV')", 'A'],
    ["audioTag(streams, 'Atmos')", 'A'],
    ["audioChannels(streams, '7.1')", 'A'],
    ["language(streams, 'French')", 'A'],
    ["service(streams, 'torbox')", 'CD'],
    ["addon(streams, 'Up')", 'ABCDE'],
    ["releaseGroup(streams, 'AAA')", 'A'],
    ['releaseGroup(streams)', 'ABCD'],
    ['seeders(streams, 12, 60)', 'AB'],
    ["size(streams, '4GB', '20 GiB')", 'BCE'],
    ['size(streams, 8589934592)', 'ABE'],
    ['cached(streams)', 'ABD'],
    ['uncached(streams)', 'C'],
    ["keyword(streams, 'remux')", 'A'],
    ['multiEpisode(streams)', 'E'],
    ["negate(quality(streams, 'HDTV', 'WEBRip'), streams)", 'ABE'],
    ["merge(service(streams, 'torbox'), resolution(streams, '720p', '2160p'))", 'CDAE'],
    ['slice(streams, 1, 3)', 'BC'],
    ['slice(streams, -2)', 'DE'],
    ["perGroup(streams, 'resolution', 1)", 'ABD'],
    ["perGroup(streams, 'resolution', 2, '1080p', '2160p')", 'ABEC'],
    ["perGroup(streams, 'service', 1)", 'ACE'],
    ["max(values(streams, 'seeders'))", 99],
    ["avg(values(slice(streams, 0, 2), 'seeders'))", 31],
    ['median(1, 2, 3, 10)', 2.5],
    ['percentile(1, 2, 3, 4, 5, 25)', 2],
    ['mode(3, 1, 3)', 3],
    ['range(5, 1, 9)', 8],
    ['stddev(2, 4, 4, 4, 5, 5, 7, 9)', 2],
    ['iqr(1, 2, 3, 4, 5)', 2],
    ['sum([])', 0],
    ['2 + 3 * 4 - 6 / 2 % 2', 13],
    ['-2 ^ 2', -4],
    ["'a' + 'b' == 'ab' and not false", true],
    ["'Up' in ['Up', 'Down'] or 1 / 0 > 2", true],
    ["queryType == 'movie' ? count(streams) : 0", 5],
    ['isAnime and season == 1', false],
    ['count(streams) >= 5 && !(count(streams) != 5)', true],
    ["/* 4K */ count(resolution(streams, '2160p')) /*# a note */", 2],
    ['previousGroupTimeTaken > 5000 or count(totalStreams) == 0', true],
  ])('evaluates %s', (text, expected) => {
    expect(value(text, { previousGroupTimeTaken: 6000, totalStreams: [] })).toEqual(expected);
  });

  it('reads names from comments', () => {
    expect(parseExpression('/* 4K */ cached(streams) /* Good */ /*# note */').names).toEqual(['4K', 'Good']);
  });

  it.each([
    ['', m.expressionIncomplete()],
    ['count(streams', m.textMissing({ text: ')' })],
    ['count(streams))', m.textUnexpected({ text: ')' })],
    ['nobody', m.nameUnknown({ name: 'nobody' })],
    ['nothing(streams)', m.functionUnknown({ name: 'nothing' })],
    ['constructor(streams)', m.functionUnknown({ name: 'constructor' })],
    ['__proto__', m.nameUnknown({ name: '__proto__' })],
    ['streams.length', m.textInvalid({ text: '.length' })],
    ["resolution('x', '2160p')", m.streamListExpected()],
    ['resolution(streams)', m.argumentMissing()],
    ["values(streams, 'toString')", m.valuesUnknown({ name: 'toString' })],
    ["size(streams, 'large')", m.notAMeasure({ value: '"large"' })],
    ["size(streams, 'a list')", m.notAMeasure({ value: '"a list"' })],
    ['size(streams, streams)', m.notAMeasure({ value: m.list() })],
    ['1 + streams', m.numberExpected({ value: m.list() })],
    [`size(streams, '${'x'.repeat(900)}')`, m.notAMeasure({ value: `"${'x'.repeat(299)}…` })],
    ["passthrough(streams, 'exclude')", m.passthroughUnknown({ name: 'exclude' })],
    ["'a' < 3", m.numberExpected({ value: '"a"' })],
    ["perGroup(streams, 'resolution', 0)", m.perGroupRequiresNumber()],
    ['('.repeat(100), m.expressionNested()],
    [`${'not '.repeat(100)}true`, m.expressionNested()],
    [`${'1 + '.repeat(3000)}1`, m.expressionTooLong()],
  ])('reports %s', (text, expectedMessage) => {
    expect(() => value(text)).toThrow(expectedMessage);
  });

  it('stops when the budget is exhausted', () => {
    const many = Array.from({ length: 50_000 }, () => streams[0]!);
    const text = Array.from({ length: 120 }, () => 'cached(cached(cached(cached(streams))))').join(',');
    expect(() => value(`count(merge(${text}))`, { streams: many })).toThrow(m.expressionsTooLarge());
  });
});

describe('cost of expressions', () => {
  const many = Array.from({ length: 4000 }, () => streams[0]!);

  it('counts every keyword and every name', () => {
    const createKeywords = (count: number): string =>
      `keyword(streams, ${Array.from({ length: count }, () => "'w'").join()})`;
    expect(() => value(createKeywords(900), { streams: many })).toThrow(m.expressionsTooLarge());
    expect(value(`count(${createKeywords(90)})`, { streams: many })).toBe(0);
    const long = many.map((stream) => ({ ...stream, filename: 'word '.repeat(100) }));
    expect(() => value(`count(${createKeywords(90)})`, { streams: long })).toThrow(m.expressionsTooLarge());
  });

  it('stops after four million visits', () => {
    const lists = (count: number): string => `count(merge(${Array.from({ length: count }, () => 'streams').join()}))`;
    expect(value(lists(400), { streams: many })).toBe(1);
    expect(() => value(lists(600), { streams: [...many, ...many] })).toThrow(m.expressionsTooLarge());
  });

  it('takes about the same time for one large group as for many small ones', () => {
    const list = Array.from({ length: 20_000 }, () => streams[0]!);
    const took = (text: string): number => {
      const startedAt = cpuTime();
      value(text, { streams: list });
      return cpuTime() - startedAt;
    };
    const singleGroupMs = took("count(perGroup(streams, 'resolution', 1))");
    expect(took("count(perGroup(streams, 'resolution', 20000))")).toBeLessThan(singleGroupMs * 50 + 500);
  });
});

describe('stream expressions of a configuration', () => {
  const run = (more: object, titleRequest: Partial<TitleRequest> = {}): PipelineResult =>
    runPipeline(streams, {
      config: readConfig(buildConfig([], more)),
      titleRequest: { ...parseTitleRequest('movie', 'tt1'), ...titleRequest },
      patterns: undefined,
    });
  const on = (expression: string, more: object = {}): object => ({ expression, enabled: true, ...more });

  it.each<[string, object, string]>([
    ['excluded', { excludedStreamExpressions: [on("quality(streams, 'HDTV')"), "type(streams, 'p2p')"] }, 'ABC'],
    ['disabled', { excludedStreamExpressions: [{ expression: 'streams', enabled: false }] }, 'ABCDE'],
    [
      'required, with one match',
      { requiredStreamExpressions: [on('uncached(streams)'), on("language(streams, 'French')")] },
      'AC',
    ],
    [
      'included, bypassing all filters',
      { excludedResolutions: ['2160p', '720p'], includedStreamExpressions: [on("audioTag(streams, 'Atmos')")] },
      'ABC',
    ],
    [
      'preferred, in order',
      {
        preferredStreamExpressions: [on('uncached(streams)'), on("resolution(streams, '2160p')")],
        sortCriteria: { global: [{ key: 'streamExpressionMatched', direction: 'desc' }] },
      },
      'CAEBD',
    ],
    [
      'ranked, with added scores',
      {
        rankedStreamExpressions: [
          on('cached(streams)', { score: 10 }),
          on("resolution(streams, '2160p')", { score: 15 }),
        ],
        sortCriteria: { global: [{ key: 'streamExpressionScore', direction: 'desc' }] },
      },
      'AEBDC',
    ],
    ['true', { excludedStreamExpressions: [on("queryType == 'series'")] }, 'ABCDE'],
    ['queryType', { excludedStreamExpressions: [on("queryType == 'movie'")] }, ''],
    [
      'pinned',
      {
        excludedStreamExpressions: [
          on("pin(resolution(streams, '720p'), 'top')"),
          on("pin(cached(streams), 'bottom')"),
        ],
      },
      'CEABD',
    ],
    [
      'exempt from the limit',
      { resultLimits: { global: 1 }, includedStreamExpressions: [on("passthrough(uncached(streams), 'limit')")] },
      'AC',
    ],
    [
      'exempt from later exclusions',
      {
        includedStreamExpressions: [on("passthrough(slice(streams, 0, 1), 'excluded')")],
        excludedStreamExpressions: [on('streams')],
      },
      'A',
    ],
  ])('applies them: %s', (_case, more, expected) => {
    const { visible, problems } = run(more);
    expect([toLetters(visible), problems]).toEqual([expected, []]);
  });

  it('explains hidden streams and reports expressions without effect', () => {
    const { hidden, problems, visible } = run({
      excludedStreamExpressions: [on("/* No television */ quality(streams, 'HDTV')"), on('nothing(streams)'), on('((')],
    });
    expect(hidden.map(({ removal }) => removal)).toEqual([
      { rule: 'Excluded Stream Expression', value: 'No television' },
    ]);
    expect(toLetters(visible)).toBe('ABCE');
    expect(problems).toEqual([
      m.expressionIgnored({ name: '((', problem: m.expressionIncomplete() }),
      m.expressionIgnored({ name: 'nothing(streams)', problem: m.functionUnknown({ name: 'nothing' }) }),
    ]);
  });

  it('provides metadata of a series as variables', () => {
    const day = 24 * 3_600_000;
    const now = 1000 * day;
    const episode = (season: number, number: number, daysAgo: number) => ({
      ...{ season, episode: number, released: now - daysAgo * day },
    });
    const titleRequest: TitleRequest = {
      ...parseTitleRequest('series', 'tt2:2:1'),
      ...{ titles: ['Show'], year: 2001, now },
      facts: {
        ...{ genres: ['Drama'], runtime: 50, released: now - 400 * day, yearEnd: 2004, language: 'English' },
        episodes: [episode(1, 1, 400), episode(2, 1, 3), episode(2, 2, -4)],
      },
    };
    const names = buildVariables(titleRequest, streams);
    expect(names).toMatchObject({
      ...{ genres: ['Drama'], title: 'Show', year: 2001, yearEnd: 2004, runtime: 50, originalLanguage: 'English' },
      ...{ queryType: 'series', season: 2, episode: 1, absoluteEpisode: 2, daysSinceRelease: 3, hasNextEpisode: true },
      ...{
        daysUntilNextEpisode: 4,
        daysSinceFirstAired: 400,
        daysSinceLastAired: 3,
        latestSeason: 2,
        ongoingSeason: true,
      },
    });
    const more = { excludedStreamExpressions: [on("'Drama' in genres ? cached(streams) : []")] };
    expect(toLetters(run(more, titleRequest).visible)).toBe('CE');
  });

  it('provides fields for formats', () => {
    const { visible } = run({
      preferredStreamExpressions: [on("/* Big */ size(streams, '30GB')")],
      rankedStreamExpressions: [on('/* Ready */ cached(streams)', { score: 7 })],
    });
    const formatter = compileFormat({
      id: 'custom',
      definitions: {
        custom: { name: "{stream.seMatched} {stream.seScore} {stream.rseMatched::join(',')}", description: '' },
      },
    });
    const { name } = toClientStream(visible[0]!, {
      ...{ config: readConfig(buildConfig([])), addonId: 'x', addonName: 'X', formatter, withData: false },
    });
    expect(name).toBe('Big 7 Ready');
  });
});
