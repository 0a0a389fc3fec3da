import * as m from '#messages/settings';
import type { PaletteSearch } from '../../state/palette-search.ts';
import { findFields } from '../settings-form/page-settings.ts';
import { settings } from '../../state/settings.svelte.ts';

const maxResults = 6;

/** Searches settings by text; each result opens its field. */
const searchSettings: PaletteSearch = async (words) => {
  if (settings.phase === 'loading') await settings.load();
  const results = findFields(settings.view, words)
    .slice(0, maxResults)
    .map(({ key, title, location, to }) => ({
      id: `setting-${key}`,
      title,
      note: location,
      icon: 'settings' as const,
      to,
    }));
  return [{ title: m.inTheSettings(), results: results }];
};

export default (): PaletteSearch => searchSettings;
