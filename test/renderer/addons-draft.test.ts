import { describe, expect, it } from 'vitest';
import { chosenParent, configOf, draftOf, newConfig } from '../../renderer/src/pages/addons/draft.ts';
import {
  expressionsWords,
  filtersWords,
  filterWords,
  groupsWords,
  namesWords,
  numbersWords,
  orderWords,
} from '../../renderer/src/pages/addons/part-words.ts';
import { mergeParent } from '../../services/addons/domain/inherit.ts';
import { readConfig } from '../../services/addons/domain/read-config.ts';

const base = { presets: [], services: [], formatter: { id: 'torrentio' }, sortCriteria: { global: [] } };

describe('a configuration that was edited on the page', () => {
  it('keeps its own format where older configurations have it', () => {
    const definition = { name: '{stream.title}', description: '{stream.size}' };
    const before = { ...base, formatter: { id: 'custom', definition } };
    const draft = draftOf(before);
    expect(draft.formatter).toEqual({ id: 'custom', ...definition });
    expect(configOf(before, draft)['formatter']).toMatchObject({ definitions: { custom: definition } });
    const custom = { name: 'newer', description: '' };
    const both = { ...base, formatter: { id: 'custom', definition, definitions: { custom } } };
    expect(draftOf(both).formatter.name).toBe('newer');
  });

  it('takes filters, order, format and name from the other once it inherits', () => {
    const parent = readConfig({
      ...base,
      addonName: 'Family',
      excludeUncached: true,
      deduplicator: { enabled: true, keys: ['filename'] },
      formatter: { id: 'gdrive' },
      sortCriteria: { global: [{ key: 'size' }] },
    });
    const before = { ...base, addonName: '' };
    const draft = draftOf(before);
    const edit = { ...draft, parent: chosenParent(draft.parent, 'family') };
    const merged = mergeParent(parent, readConfig(configOf(before, edit)));
    expect(merged).toMatchObject({
      addonName: 'Family',
      excludeUncached: true,
      deduplicator: { enabled: true, keys: ['filename'] },
      formatter: { id: 'gdrive' },
      sortCriteria: { global: [{ key: 'size' }] },
    });
    const named = mergeParent(parent, readConfig(configOf(before, { ...edit, addonName: 'Own' })));
    expect(named.addonName).toBe('Own');
    const switched = configOf(newConfig, { ...draftOf(newConfig), excludeUncached: true, deduplicate: false });
    expect(switched).toMatchObject({ excludeUncached: true, deduplicator: { enabled: false } });
    const back = configOf(switched, { ...draftOf(switched), excludeUncached: false });
    expect(back).toMatchObject({ excludeUncached: false });
  });

  it('keeps what was said about each part when another parent is chosen', () => {
    const strategies = { sorting: 'override' };
    expect(chosenParent({ uuid: 'one', strategies }, 'two')).toEqual({ uuid: 'two', strategies });
    expect(chosenParent({ uuid: 'one', strategies }, '')).toEqual({ uuid: '', strategies });
    expect(chosenParent({ uuid: '', strategies }, 'one').strategies).toEqual({
      sorting: 'override',
      formatter: 'inherit',
    });
  });

  it('forgets the name of a scored regular expression that was cleared', () => {
    const before = { ...base, rankedRegexPatterns: [{ name: 'Remux', pattern: 'remux', score: 5, mark: 1 }] };
    const draft = draftOf(before);
    const cleared = (draft.rules.lists['rankedRegexPatterns'] ?? []).map((rule) => ({ ...rule, name: '' }));
    const lists = { ...draft.rules.lists, rankedRegexPatterns: cleared };
    const after = configOf(before, { ...draft, rules: { ...draft.rules, lists } });
    expect(after['rankedRegexPatterns']).toEqual([{ pattern: 'remux', score: 5, mark: 1 }]);
    expect(configOf(before, draft)['rankedRegexPatterns']).toEqual(before.rankedRegexPatterns);
  });
});

describe('a folded part of a configuration says in one line', () => {
  const draft = draftOf({
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
    ['what is filtered', filtersWords(draft.lists), 'Resolution, quality'],
    ['what is hidden, cut short', filterWords('Qualities', draft.lists), 'Hides CAM, TS, TC and 2 more'],
    ['what is preferred', filterWords('Resolutions', draft.lists), 'Prefers 2160p, 1080p'],
    ['its limits', numbersWords(draft), 'Size of a film 2 to 50 GB · 9 altogether · Hide whole seasons'],
    ['its expressions', expressionsWords(draft.rules.lists), 'Hide: 1 expression'],
    ['its order', orderWords(draft.sorts['global'] ?? []), 'Plays at once, size'],
    ['that there are no groups', groupsWords(draft.rules.groups), 'All addons are asked at once'],
    ['that there is none of them', namesWords([]), 'None'],
  ])('%s', (_, said, words) => {
    expect(said).toBe(words);
  });
});
