import { savedQueriesApi, type SavedQuery } from '../../../../../services/contracts/data/queries.ts';
import { call } from '../../../api/call.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** Saved queries of the signed-in account, by name. */
export class SavedQueries extends Loadable {
  queries = $state.raw<readonly SavedQuery[]>([]);

  async load(): Promise<void> {
    await this.readLatest(
      () => call(savedQueriesApi.list),
      ({ queries }) => (this.queries = queries),
    );
  }

  async create(name: string, text: string): Promise<SavedQuery> {
    const created = await call(savedQueriesApi.create, { body: { name, text } });
    await this.load();
    return created;
  }

  async change(id: string, change: { readonly name?: string; readonly text?: string }): Promise<SavedQuery> {
    const updated = await call(savedQueriesApi.change, { params: { id }, body: change });
    await this.load();
    return updated;
  }

  async remove(id: string): Promise<void> {
    await call(savedQueriesApi.remove, { params: { id } });
    await this.load();
  }
}
