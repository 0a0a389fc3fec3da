import { dataSqlApi, type DataNames } from '../../../../../../services/contracts/data/sql.ts';
import { call } from '../../../../api/call.ts';
import { DatabaseTables } from '../../database-state.svelte.ts';

/** Tables for the lists of the SQL page, and names for the completion of its editor. */
export class EditorNames {
  readonly tables = new DatabaseTables();
  names = $state.raw<DataNames>();

  /** Loads the names, which starts PostgreSQL. */
  async load(): Promise<void> {
    await this.#load(() => this.tables.load());
  }

  /** Loads the names if PostgreSQL is running. */
  async loadIfAwake(): Promise<void> {
    await this.#load(() => this.tables.loadIfAwake());
  }

  async #load(loadTables: () => Promise<void>): Promise<void> {
    try {
      await loadTables();
      if (this.tables.phase === 'ready') this.names = await call(dataSqlApi.names);
    } catch {
      // The editor works without completion of names.
    }
  }
}
