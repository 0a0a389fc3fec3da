import { dataApi, type DataOverview, type DataTable } from '../../../../services/contracts/data/api.ts';
import { dataKeysApi, type DataKeys } from '../../../../services/contracts/data/keys.ts';
import { dataUsersApi, type DataUser } from '../../../../services/contracts/data/users.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** Of each kind, on the overview. */
const mostShown = 5;

/** The tables that are served. */
export class Tables extends Loadable {
  tables = $state.raw<readonly DataTable[]>([]);
  /** The first is where new tables go. */
  schemas = $state.raw<readonly string[]>([]);

  async load(): Promise<void> {
    await this.readLatest(
      () => call(dataApi.tables),
      ({ tables, schemas }) => {
        this.tables = tables;
        this.schemas = schemas;
      },
    );
  }

  /** The same, for who needs no more than a name: that is no reason to wake PostgreSQL. */
  async loadIfAwake(): Promise<void> {
    const { state } = await call(dataApi.overview);
    if (state === 'up') await this.load();
  }
}

/** The largest tables and the newest users, for the overview. Whoever asks knows that PostgreSQL is awake. */
export class Inside extends Loadable {
  tables = $state.raw<readonly DataTable[]>([]);
  users = $state.raw<readonly DataUser[]>([]);

  async load(): Promise<void> {
    await this.readOnce(
      () => Promise.all([call(dataApi.tables), call(dataUsersApi.list, { query: {} })]),
      ([{ tables }, { users }]) => {
        this.tables = tables
          .filter(({ isView }) => !isView)
          .toSorted((a, b) => (b.rows ?? 0) - (a.rows ?? 0))
          .slice(0, mostShown);
        this.users = users.slice(0, mostShown);
      },
    );
  }
}

/** The keys of programs, and what signs tokens. */
export class Keys extends Loadable {
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
    await this.readOnce(ask, (keys) => (this.keys = keys));
  }
}

/** How the databases are. */
export class Overview extends Loadable {
  overview = $state.raw<DataOverview>();
  /** Why PostgreSQL did not wake. */
  complaint = $state('');

  async load(): Promise<void> {
    await this.#read(false);
  }

  async wake(): Promise<void> {
    this.complaint = (await this.#read(true)) ? '' : this.error;
  }

  #read(wake: boolean): Promise<boolean> {
    return this.readOnce(
      () => call(dataApi.overview, { query: { wake } }),
      (overview) => (this.overview = overview),
    );
  }
}
