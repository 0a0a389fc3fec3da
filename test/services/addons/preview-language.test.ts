import * as labels from '#messages/addons-rules';
import * as t from '#messages/addons-texts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AddonPreview } from '../../../services/contracts/addons/api.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { api } from '../../support/api.ts';
import type { TestHost } from '../../support/host.ts';
import { openFakeAddon, type FakeAddon } from './fake-addon.ts';
import { buildConfig, customPreset, fetchStreams, makeUser, openAddonsHost } from './rig.ts';

const languages = ['en', 'de', 'fr', 'es'] as const;

let host: TestHost;
let addon: FakeAddon;
beforeAll(async () => {
  const names = ['Film.2019.1080p.HDTV.mkv', 'Film.2019.1080p.WEB-DL.mkv', 'Film.2019.720p.WEB-DL.mkv'];
  const streams = names.map((filename, index) => ({
    name: 'Up',
    url: `http://h.example/${String(index)}`,
    behaviorHints: { filename },
  }));
  addon = await openFakeAddon({ streams });
  host = await openAddonsHost();
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await addon[Symbol.asyncDispose]();
});

function buildFilters(): Record<string, unknown> {
  return buildConfig([customPreset('a', 'Near', addon.manifestUrl)], {
    excludedQualities: ['HDTV'],
    requiredResolutions: ['1080p'],
    statistics: { enabled: true, statsToShow: ['filter'] },
  });
}

it.each(languages)('explains hidden streams of the preview in the language %s', async (language) => {
  const preview = await api<AddonPreview>(host.url('control'), '/api/addons/preview', {
    method: 'POST',
    headers: { 'Accept-Language': language },
    body: JSON.stringify({ config: buildFilters(), type: 'movie', id: 'tt0111161' }),
  });
  const expected = await runInLanguage({ language, locale: language }, () => [
    t.removedExcluded({ attribute: labels.quality(), value: 'HDTV' }),
    t.removedNotRequired({ attribute: labels.resolution(), value: '720p' }),
  ]);
  expect(preview.shown).toHaveLength(1);
  expect(preview.hidden.map(({ why }) => why).sort()).toEqual(expected.sort());
});

it('keeps the names of the rules in English for players', async () => {
  const { base } = await makeUser(host, buildFilters());
  const streams = await fetchStreams(base, 'movie/tt0111161', { headers: { 'Accept-Language': 'de' } });
  expect(JSON.stringify(streams.at(-1))).toContain('Excluded Quality (1)');
  expect(JSON.stringify(streams.at(-1))).toContain('Required Resolution (1)');
});
