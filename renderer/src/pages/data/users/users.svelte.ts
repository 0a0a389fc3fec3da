import * as m from '#messages/data-users';
import { dataUsersApi, type DataUser, type DataUserDetail } from '../../../../../services/contracts/data/users.ts';
import { Problem } from '../../../../../services/contracts/problem.ts';
import { call } from '../../../api/call.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';

/** Page of the list of app users. */
export class Users extends Loadable {
  rows = $state.raw<readonly DataUser[]>([]);
  total = $state(0);
  perPage = $state(1);
  #search = '';
  #page = 1;

  async show(search: string, page: number): Promise<void> {
    [this.#search, this.#page] = [search, page];
    await this.load();
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(dataUsersApi.list, { query: { q: this.#search, page: this.#page } }),
      ({ users, total, perPage }) => {
        this.rows = users;
        this.total = total;
        this.perPage = perPage;
      },
    );
  }
}

/**
 * Resolves an e-mail address or ID to the user ID; empty input stays empty.
 *
 * @throws {Problem} If no user has the address.
 */
export async function findUserId(input: string): Promise<string> {
  const text = input.trim();
  if (!text.includes('@')) return text;
  const { users } = await call(dataUsersApi.list, { query: { q: text, page: 1 } });
  const user = users.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (user === undefined) throw new Problem('data.no_user', 404, m.noUserHasTheAddress({ text }));
  return user.id;
}

/** Details of an app user. */
export class User extends Loadable {
  user = $state.raw<DataUserDetail>();
  readonly #id: string;

  constructor(id: string) {
    super();
    this.#id = id;
  }

  async load(): Promise<void> {
    await this.readOnce(
      () => call(dataUsersApi.one, { params: { id: this.#id } }),
      (user) => (this.user = user),
    );
  }
}
