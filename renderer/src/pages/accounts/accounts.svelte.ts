import { tick } from 'svelte';
import { accessApi, accessChanged, ownAccountApi } from '../../../../services/contracts/control/access.ts';
import type { Account, AccountKind, Grant, Role } from '../../../../services/contracts/control/accounts.ts';
import { controlApi } from '../../../../services/contracts/control/api.ts';
import { secondFactorApi } from '../../../../services/contracts/control/second-factor-routes.ts';
import { call, renewSession } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';

/** What a person types to make an account. */
export interface NewAccountFields {
  readonly name: string;
  readonly kind: AccountKind;
  readonly role: Role;
  readonly password: string;
  readonly description: string;
}

type Change = Partial<Pick<Account, 'role' | 'enabled' | 'description' | 'grants'>> & { readonly password?: string };

/** Changes come in bursts, such as an import of many accounts; they are read together, in ms. */
const gatherMs = 150;

/** People and service accounts, and what anyone may do. */
class Accounts extends Loadable {
  list = $state.raw<readonly Account[]>([]);
  anyone = $state.raw<readonly Grant[]>([]);
  /** What is under way; its event often comes before its answer. */
  #removal: Promise<unknown> = Promise.resolve();

  constructor() {
    super();
    const again = (): void => {
      if (this.phase !== 'loading') void this.load();
    };
    live.onReset(again);
    this.onChange(again);
  }

  /** Calls when accounts, tokens or grants changed, here or elsewhere; the returned function stops that. */
  onChange(listener: () => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.on(accessChanged, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void tell(), gatherMs);
    });
    let over = false;
    // Who shows the account that goes must not ask for it once more: it is unmounted first.
    const tell = async (): Promise<void> => {
      await this.#removal;
      await tick();
      if (!over) listener();
    };
    return () => {
      over = true;
      clearTimeout(timer);
      stop();
    };
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => Promise.all([call(controlApi.accounts), call(accessApi.anyone)]),
      ([{ accounts }, { grants }]) => {
        this.list = accounts;
        this.anyone = grants;
      },
    );
  }

  find(name: string): Account | undefined {
    return this.list.find((account) => account.name === name);
  }

  /** @throws Problem with `fields`. */
  async create({ name, kind, role, password, description }: NewAccountFields): Promise<Account> {
    const given = { name, kind, role, description, ...(password === '' ? {} : { password }) };
    const account = await call(controlApi.createAccount, { body: given });
    this.#take(account);
    return account;
  }

  async change(name: string, change: Change): Promise<void> {
    this.#take(await call(controlApi.changeAccount, { params: { name }, body: change }));
  }

  async changeAnyone(grants: readonly Grant[]): Promise<void> {
    this.anyone = (await call(accessApi.changeAnyone, { body: { grants: [...grants] } })).grants;
  }

  /** What the account has in the services that run. */
  async data(name: string) {
    return (await call(controlApi.accountData, { params: { name } })).data;
  }

  async remove(name: string, query: { data: 'delete' | 'transfer' | 'keep'; to?: string }): Promise<void> {
    const removal = call(controlApi.removeAccount, { params: { name }, query }).then(() => {
      this.list = this.list.filter((account) => account.name !== name);
    });
    this.#removal = removal.catch(() => undefined);
    await removal;
  }

  /** Disables the second factor of another account and signs it out. */
  async resetSecondFactor(name: string): Promise<void> {
    await call(secondFactorApi.reset, { params: { name } });
    this.list = this.list.map((account) => {
      if (account.name !== name) return account;
      const { secondFactor: _removed, ...rest } = account;
      return rest;
    });
  }

  /** Signs an account out everywhere and returns the number of its sessions. */
  async endSessions(name: string): Promise<number> {
    return (await call(controlApi.endSessions, { params: { name } })).ended;
  }

  /** `account` empty: anyone. */
  async may(account: string, service: string, permission: 'read' | 'write', resource: string) {
    const query = { service, permission, resource, ...(account === '' ? {} : { account }) };
    return call(accessApi.check, { query });
  }

  /** @throws Problem with `fields`, `current` among them. */
  async changeOwnPassword(current: string, password: string): Promise<void> {
    await renewSession(() => call(ownAccountApi.changePassword, { body: { current, password }, isRenewal: true }));
  }

  #take(account: Account): void {
    const others = this.list.filter(({ name }) => name !== account.name);
    this.list = [...others, account].toSorted((a, b) => a.createdAt - b.createdAt || a.name.localeCompare(b.name));
  }
}

export const accounts = new Accounts();
