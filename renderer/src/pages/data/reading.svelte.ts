import { dataApi, type DataKeys, type DataTable } from '../../../../services/contracts/data/api.ts';
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
