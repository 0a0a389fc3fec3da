import { syncApi } from '../../../../services/contracts/sync/api.ts';
import { call } from '../../api/call.ts';
import { pathOf } from '../../state/page-path.ts';
import { holds, once, type BeginFind } from '../../state/palette-search.ts';
import { session } from '../../state/session.svelte.ts';

const shown = 6;

/** Saved syncs by their names, and remotes, while rclone runs: looking for something else is no reason to start it. */
const begin: BeginFind = () => {
  const all = once(async () => {
    const { tasks, engine } = await call(syncApi.overview);
    const { remotes } = session.admin && engine.running ? await call(syncApi.remotes) : { remotes: [] };
    return { tasks, remotes };
  });
  return async (words) => {
    const { tasks, remotes } = await all();
    return [
      {
        title: 'Syncs',
        found: tasks
          .filter(({ name }) => holds(name, words))
          .slice(0, shown)
          .map(({ id, name }) => ({
            ...{ id: `sync-${String(id)}`, title: name, icon: 'sync' as const },
            to: pathOf({ service: 'sync', thing: 'syncs', id: String(id) }),
          })),
      },
      {
        title: 'Remotes',
        found: remotes
          .filter(({ name, type }) => holds(`${name} ${type}`, words))
          .slice(0, shown)
          .map(({ name, summary }) => ({
            ...{ id: `remote-${name}`, title: name, note: summary, icon: 'sync' as const },
            to: `/sync/files?at=${encodeURIComponent(`${name}:`)}`,
          })),
      },
    ];
  };
};

export default begin;
