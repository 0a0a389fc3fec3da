import { compareNames } from '../../../../services/contracts/compare-names.ts';
import { dataApi, type DataOverview, type DataTable } from '../../../../services/contracts/data/api.ts';
import { dataKeysApi, type DataKeys } from '../../../../services/contracts/data/keys.ts';
import { dataUsersApi, type DataUser } from '../../../../services/contracts/data/users.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Maximum number of tables and users on the overview. */
const maxListed = 5;

/** Served tables. */
export class DatabaseTables extends Loadable {
  tables = $state.raw<readonly DataTable[]>([]);
  /** Served schemas; the first is the default for new tables. */
  schemas = $state.raw<readonly string[]>([]);

  async load(): Promise<void> {
    await this.readLatest(
      () => call(dataApi.tables),
      ({ tables, schemas }) => {
        this.tables = tables.toSorted(
          (a, b) => schemas.indexOf(a.schema) - schemas.indexOf(b.schema) || compareNames(a.name, b.name),
        );
        this.schemas = schemas;
      },
    );
  }

  /** Loads the tables if PostgreSQL is running, and does not start it. */
  async loadIfAwake(): Promise<void> {
    const { state } = await call(dataApi.overview);
    if (state === 'up') await this.load();
  }
}

/** Largest tables and newest users for the overview. Requires a running PostgreSQL. */
export class DatabaseContents extends Loadable {
  tables = $state.raw<readonly DataTable[]>([]);
  users = $state.raw<readonly DataUser[]>([]);

  async load(): Promise<void> {
    await this.readOnce(
      () => Promise.all([call(dataApi.tables), call(dataUsersApi.list, { query: {} })]),
      ([{ tables }, { users }]) => {
        this.tables = tables
          .filter(({ isView }) => !isView)
          .toSorted((a, b) => (b.rows ?? 0) - (a.rows ?? 0))
          .slice(0, maxListed);
        this.users = users.slice(0, maxListed);
      },
    );
  }
}

/** API keys and signing keys. */
export class DatabaseKeys extends Loadable {
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

  async #read(request: () => Promise<DataKeys>): Promise<void> {
    await this.readOnce(request, (keys) => (this.keys = keys));
  }
}

/** Status of PostgreSQL. */
export class DatabaseStatus extends Loadable {
  overview = $state.raw<DataOverview>();
  /** Error of the last attempt to start PostgreSQL. */
  wakeError = $state('');

  async load(): Promise<void> {
    await this.#read(false);
  }

  async wake(): Promise<void> {
    this.wakeError = (await this.#read(true)) ? '' : this.error;
  }

  #read(wake: boolean): Promise<boolean> {
    return this.readOnce(
      () => call(dataApi.overview, { query: { wake } }),
      (overview) => (this.overview = overview),
    );
  }
}
