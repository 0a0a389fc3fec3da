import { dataApi, type DataKeys, type DataOverview, type DataTable } from '../../../../services/contracts/data/api.ts';
import { call } from '../../api/call.ts';
import { Loaded } from '../../state/loaded.svelte.ts';

/** The tables that are served. */
export class Tables extends Loaded {
  tables = $state.raw<readonly DataTable[]>([]);

  async load(): Promise<void> {
    await this.reading(
      () => call(dataApi.tables),
      ({ tables }) => (this.tables = tables),
    );
  }
}

/** The keys of programs. */
export class Keys extends Loaded {
  keys = $state.raw<DataKeys>();

  async load(): Promise<void> {
    await this.reading(
      () => call(dataApi.keys),
      (keys) => (this.keys = keys),
    );
  }

  async rotate(key: 'publishable' | 'secret' | 'all'): Promise<void> {
    await this.reading(
      () => call(dataApi.rotate, { body: { key } }),
      (keys) => (this.keys = keys),
    );
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
