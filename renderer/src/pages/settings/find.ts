import type { PaletteSearch } from '../../state/palette-search.ts';
import { findFields } from './page-settings.ts';
import { settings } from './settings.svelte.ts';

const shown = 6;

/** Settings by their words: each leads to its field. */
const find: PaletteSearch = async (words) => {
  if (settings.phase === 'loading') await settings.load();
  const found = findFields(settings.view, words)
    .slice(0, shown)
    .map(({ key, title, where, to }) => ({ id: `setting-${key}`, title, note: where, icon: 'settings' as const, to }));
  return [{ title: 'In the settings', results: found }];
};

export default (): PaletteSearch => find;
