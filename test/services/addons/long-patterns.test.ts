import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, makeUser, openAddonsHost, fetchStreams } from './rig.ts';

const names = ['Film.2020.1080p.WEB-DL-wanted.mkv', 'Film.2020.1080p.WEB-DL-other.mkv'];
let host: TestHost;
let up: FakeAddon;
beforeAll(async () => {
  host = await openAddonsHost();
  up = await openFakeAddon({
    streams: names.map((filename) => ({
      name: 'Up',
      url: `http://h.example/${filename}`,
      behaviorHints: { filename },
    })),
  });
});
afterAll(async () => {
  await up[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

/** Builds an alternation of group names of exactly this length, which matches the group `wanted`. */
function buildPattern(length: number): string {
  const end = '|wanted)\\b';
  let groups = '(?<![a-z])(?:g0';
  for (let index = 1; groups.length + end.length < length - 8; index += 1) groups += `|g${String(index)}`;
  return groups + 'x'.repeat(length - groups.length - end.length) + end;
}

async function listFileNames(overrides: object): Promise<readonly string[]> {
  const { base } = await makeUser(host, buildConfig([customPreset('u', 'Up', up.manifestUrl)], overrides));
  return (await fetchStreams(base)).map(({ behaviorHints }) => behaviorHints.filename);
}

describe('a pattern of 3,249 characters', () => {
  const pattern = buildPattern(3249);
  it.each<[string, object, readonly string[]]>([
    ['required', { requiredRegexPatterns: [pattern] }, [names[0] ?? '']],
    ['excluded', { excludedRegexPatterns: [pattern] }, [names[1] ?? '']],
    ['included', { includedRegexPatterns: [pattern], excludedResolutions: ['1080p'] }, [names[0] ?? '']],
    ['negated', { requiredRegexPatterns: [`/${pattern}/in`] }, [names[1] ?? '']],
    [
      'preferred',
      {
        preferredRegexPatterns: [{ name: 'wanted', pattern: pattern.replace('wanted', 'other') }],
        sortCriteria: { global: [{ key: 'regexPatterns', direction: 'desc' }] },
      },
      names.toReversed(),
    ],
    [
      'ranked',
      {
        rankedRegexPatterns: [{ name: 'wanted', pattern: pattern.replace('wanted', 'other'), score: 50 }],
        sortCriteria: { global: [{ key: 'regexScore', direction: 'desc' }] },
      },
      names.toReversed(),
    ],
  ])('selects streams when it is %s', async (_kind, overrides, expected) => {
    expect(pattern).toHaveLength(3249);
    expect(await listFileNames(overrides)).toEqual(expected);
  });
});
