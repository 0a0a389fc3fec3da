import { describe, expect, it } from 'vitest';
import { selectParent, toConfig, toDraft } from '../../renderer/src/pages/addons/draft/configuration-draft.ts';
import { newConfig } from '../../renderer/src/pages/addons/draft/new-config.ts';
import {
  describeExpressions,
  describeFilters,
  describeFilter,
  describeGroups,
  describeNames,
  describeNumbers,
  describeOrder,
} from '../../renderer/src/pages/addons/draft/section-summaries.ts';
import { mergeParentConfig } from '../../services/addons/domain/merge-parent.ts';
import { readConfig } from '../../services/addons/domain/read-config.ts';

const base = { presets: [], services: [], formatter: { id: 'torrentio' }, sortCriteria: { global: [] } };

describe('configuration draft', () => {
  it('keeps the custom format of older configurations', () => {
    const definition = { name: '{stream.title}', description: '{stream.size}' };
    const before = { ...base, formatter: { id: 'custom', definition } };
    const draft = toDraft(before);
    expect(draft.formatter).toEqual({ id: 'custom', ...definition });
    expect(toConfig(before, draft)['formatter']).toMatchObject({ definitions: { custom: definition } });
    const custom = { name: 'newer', description: '' };
    const both = { ...base, formatter: { id: 'custom', definition, definitions: { custom } } };
    expect(toDraft(both).formatter.name).toBe('newer');
  });

  it('inherits filters, order, format and name after a parent is selected', () => {
    const parent = readConfig({
      ...base,
      addonName: 'Family',
      excludeUncached: true,
      deduplicator: { enabled: true, keys: ['filename'] },
      formatter: { id: 'gdrive' },
      sortCriteria: { global: [{ key: 'size' }] },
    });
    const before = { ...base, addonName: '' };
    const draft = toDraft(before);
    const edit = { ...draft, parent: selectParent(draft.parent, 'family') };
    const merged = mergeParentConfig(parent, readConfig(toConfig(before, edit)));
    expect(merged).toMatchObject({
      addonName: 'Family',
      excludeUncached: true,
      deduplicator: { enabled: true, keys: ['filename'] },
      formatter: { id: 'gdrive' },
      sortCriteria: { global: [{ key: 'size' }] },
    });
    const named = mergeParentConfig(parent, readConfig(toConfig(before, { ...edit, addonName: 'Own' })));
    expect(named.addonName).toBe('Own');
    const switched = toConfig(newConfig, { ...toDraft(newConfig), excludeUncached: true, deduplicate: false });
    expect(switched).toMatchObject({ excludeUncached: true, deduplicator: { enabled: false } });
    const back = toConfig(switched, { ...toDraft(switched), excludeUncached: false });
    expect(back).toMatchObject({ excludeUncached: false });
  });

  it('keeps the strategies when another parent is selected', () => {
    const strategies = { sorting: 'override' };
    expect(selectParent({ uuid: 'one', strategies }, 'two')).toEqual({ uuid: 'two', strategies });
    expect(selectParent({ uuid: 'one', strategies }, '')).toEqual({ uuid: '', strategies });
    expect(selectParent({ uuid: '', strategies }, 'one').strategies).toEqual({
      sorting: 'override',
      formatter: 'inherit',
    });
  });

  it('removes the cleared name of a scored regular expression', () => {
    const before = { ...base, rankedRegexPatterns: [{ name: 'Remux', pattern: 'remux', score: 5, mark: 1 }] };
    const draft = toDraft(before);
    const cleared = (draft.rules.lists['rankedRegexPatterns'] ?? []).map((rule) => ({ ...rule, name: '' }));
    const lists = { ...draft.rules.lists, rankedRegexPatterns: cleared };
    const after = toConfig(before, { ...draft, rules: { ...draft.rules, lists } });
    expect(after['rankedRegexPatterns']).toEqual([{ pattern: 'remux', score: 5, mark: 1 }]);
    expect(toConfig(before, draft)['rankedRegexPatterns']).toEqual(before.rankedRegexPatterns);
  });
});

describe('section summary', () => {
  const draft = toDraft({
    ...base,
    excludedQualities: ['CAM', 'TS', 'TC', 'SCR', 'HDTV'],
    preferredResolutions: ['2160p', '1080p'],
    size: { global: { movies: [2e9, 50e9] } },
    resultLimits: { global: 9 },
    excludeSeasonPacks: true,
    excludedStreamExpressions: ['count(streams)'],
    sortCriteria: { global: [{ key: 'cached' }, { key: 'size' }] },
  });

  it.each([
    ['the filtered attributes', describeFilters(draft.lists), 'Resolution, quality'],
    ['hidden values, truncated', describeFilter('Qualities', draft.lists), 'Hides CAM, TS, TC and 2 more'],
    ['preferred values', describeFilter('Resolutions', draft.lists), 'Prefers 2160p, 1080p'],
    ['limits', describeNumbers(draft), 'Movie size 2 to 50 GB · 9 in total · Hide season packs'],
    ['expressions', describeExpressions(draft.rules.lists), 'Hide: 1 expression'],
    ['the sort order', describeOrder(draft.sorts['global'] ?? []), 'Cached, size'],
    ['missing groups', describeGroups(draft.rules.groups), 'All addons at the same time'],
    ['an empty list of names', describeNames([]), 'None'],
  ])('describes %s', (_, change, description) => {
    expect(change).toBe(description);
  });
});
