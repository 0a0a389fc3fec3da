import { dataUsersApi, type DataUser, type DataUserDetail } from '../../../../services/contracts/data/users.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { call } from '../../api/call.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** A page of the users of people's apps. */
export class Users extends Loadable {
  rows = $state.raw<readonly DataUser[]>([]);
  total = $state(0);
  perPage = $state(1);
  #words = '';
  #page = 1;

  async show(words: string, page: number): Promise<void> {
    [this.#words, this.#page] = [words, page];
    await this.load();
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(dataUsersApi.list, { query: { q: this.#words, page: this.#page } }),
      ({ users, total, perPage }) => {
        this.rows = users;
        this.total = total;
        this.perPage = perPage;
      },
    );
  }
}

/** The id of the user who was typed by e-mail or id; empty for nobody. @throws Problem with a sentence where none has that address. */
export async function idOfUser(typed: string): Promise<string> {
  const text = typed.trim();
  if (!text.includes('@')) return text;
  const { users } = await call(dataUsersApi.list, { query: { q: text, page: 1 } });
  const user = users.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (user === undefined) throw new Problem('data.no_user', 404, `No user has the address ${text}.`);
  return user.id;
}

/** One of them. */
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
