import * as m from '#messages/data-sql';
import { savedQueriesApi, type SavedQuery } from '../../../../../../services/contracts/data/queries.ts';
import { call } from '../../../../api/call.ts';
import { Loadable } from '../../../../state/loadable.svelte.ts';
import { toasts } from '../../../../state/toasts.svelte.ts';

/** Saved queries of the signed-in account, by name. */
export class SavedQueries extends Loadable {
  queries = $state.raw<readonly SavedQuery[]>([]);
  /** Query that is open in the editor. */
  opened = $state.raw<SavedQuery>();

  async load(): Promise<void> {
    await this.readLatest(
      () => call(savedQueriesApi.list),
      ({ queries }) => (this.queries = queries),
    );
  }

  /** Saves a text under a name and opens the query. */
  async create(name: string, text: string): Promise<void> {
    this.opened = await call(savedQueriesApi.create, { body: { name, text } });
    await this.load();
  }

  /** Saves a text in the opened query. */
  async save(text: string): Promise<void> {
    const id = this.opened?.id ?? '';
    this.opened = await call(savedQueriesApi.change, { params: { id }, body: { text } });
    await this.load();
  }

  async rename({ id }: SavedQuery, name: string): Promise<void> {
    const renamed = await call(savedQueriesApi.change, { params: { id }, body: { name } });
    if (this.opened?.id === id) this.opened = renamed;
    await this.load();
  }

  /** Deletes a query, and offers to restore it. */
  async remove({ id, name, text }: SavedQuery): Promise<void> {
    try {
      await call(savedQueriesApi.remove, { params: { id } });
      if (this.opened?.id === id) this.opened = undefined;
      await this.load();
      toasts.show(m.nameIsRemoved({ name }), { undo: () => this.#restore(name, text) });
    } catch (error) {
      toasts.showError(error);
    }
  }

  async #restore(name: string, text: string): Promise<void> {
    await call(savedQueriesApi.create, { body: { name, text } });
    await this.load();
  }
}
