import { dataApi, type DataOverview, type DataTable } from '../../../../services/contracts/data/api.ts';
import { dataKeysApi, type DataKeys } from '../../../../services/contracts/data/keys.ts';
import { call } from '../../api/call.ts';
import { Loaded } from '../../state/loaded.svelte.ts';

/** The tables that are served. */
export class Tables extends Loaded {
  tables = $state.raw<readonly DataTable[]>([]);
  /** The first is where new tables go. */
  schemas = $state.raw<readonly string[]>([]);

  async load(): Promise<void> {
    await this.readingLatest(
      () => call(dataApi.tables),
      ({ tables, schemas }) => {
        this.tables = tables;
        this.schemas = schemas;
      },
    );
  }
}

/** The keys of programs, and what signs tokens. */
export class Keys extends Loaded {
  keys = $state.raw<DataKeys>();

  async load(): Promise<void> {
    await this.#read(() => call(dataKeysApi.keys));
  }

  async rotate(key: 'publishable' | 'secret' | 'all'): Promise<void> {
    await this.#read(() => call(dataKeysApi.rotate, { body: { key } }));
  }

  async signWith(kind: 'pair' | 'secret'): Promise<void> {
    await this.#read(() => call(dataKeysApi.sign, { body: { with: kind } }));
  }

  async endEarlier(): Promise<void> {
    await this.#read(() => call(dataKeysApi.endEarlier));
  }

  async #read(ask: () => Promise<DataKeys>): Promise<void> {
    await this.reading(ask, (keys) => (this.keys = keys));
  }
}

/** How the databases are. */
export class Overview extends Loaded {
  overview = $state.raw<DataOverview>();
  /** Why PostgreSQL did not wake. */
  complaint = $state('');

  async load(): Promise<void> {
    await this.#read(false);
  }

  async wake(): Promise<void> {
    this.complaint = (await this.#read(true)) ? '' : this.trouble;
  }

  #read(wake: boolean): Promise<boolean> {
    return this.reading(
      () => call(dataApi.overview, { query: { wake } }),
      (overview) => (this.overview = overview),
    );
  }
}
