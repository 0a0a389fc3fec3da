import { syncApi } from '../../../../services/contracts/sync/api.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import { containsTerms, memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';
import { session } from '../../state/session.svelte.ts';

const shown = 6;

/** Saved syncs by their names, and remotes, while rclone runs: looking for something else is no reason to start it. */
const begin: CreatePaletteSearch = () => {
  const all = memoize(async () => {
    const { tasks, engine } = await call(syncApi.overview);
    const { remotes } = session.isAdmin && engine.running ? await call(syncApi.remotes) : { remotes: [] };
    return { tasks, remotes };
  });
  return async (words) => {
    const { tasks, remotes } = await all();
    return [
      {
        title: 'Syncs',
        results: tasks
          .filter(({ name }) => containsTerms(name, words))
          .slice(0, shown)
          .map(({ id, name }) => ({
            id: `sync-${String(id)}`,
            title: name,
            icon: 'sync' as const,
            to: buildPath({ service: 'sync', section: 'syncs', id: String(id) }),
          })),
      },
      {
        title: 'Remotes',
        results: remotes
          .filter(({ name, type }) => containsTerms(`${name} ${type}`, words))
          .slice(0, shown)
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

export default begin;
