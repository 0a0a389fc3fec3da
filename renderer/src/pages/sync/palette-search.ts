import * as m from '#messages/sync';
import { syncApi } from '../../../../services/contracts/sync/api.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import { memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';
import { containsTerms } from '../../state/search-text.ts';
import { session } from '../../state/session.svelte.ts';

const maxResults = 6;

/** Finds saved syncs by name, and remotes while rclone is running: a search does not start it. */
const createSearch: CreatePaletteSearch = () => {
  const loadItems = memoize(async () => {
    const { tasks, engine } = await call(syncApi.overview);
    const { remotes } = session.isAdmin && engine.running ? await call(syncApi.remotes) : { remotes: [] };
    return { tasks, remotes };
  });
  return async (query) => {
    const { tasks, remotes } = await loadItems();
    return [
      {
        title: m.syncs(),
        results: tasks
          .filter(({ name }) => containsTerms(name, query))
          .slice(0, maxResults)
          .map(({ id, name }) => ({
            id: `sync-${String(id)}`,
            title: name,
            icon: 'sync' as const,
            to: buildPath({ service: 'sync', section: 'syncs', id: String(id) }),
          })),
      },
      {
        title: m.remotes(),
        results: remotes
          .filter(({ name, type }) => containsTerms(`${name} ${type}`, query))
          .slice(0, maxResults)
          .map(({ name, summary }) => ({
            id: `remote-${name}`,
            title: name,
            note: summary,
            icon: 'sync' as const,
            to: `/sync/files?at=${encodeURIComponent(`${name}:`)}`,
          })),
      },
    ];
  };
};

export default createSearch;
