import { tick } from 'svelte';
import { compareNames } from '../../../services/contracts/compare-names.ts';
import { accessApi, accessChanged, ownAccountApi } from '../../../services/contracts/control/access.ts';
import type { Account, AccountKind, Grant, Role } from '../../../services/contracts/control/accounts.ts';
import { controlApi } from '../../../services/contracts/control/api.ts';
import { secondFactorApi } from '../../../services/contracts/control/second-factor-routes.ts';
import { call, renewSession } from '../api/call.ts';
import { live } from './live.svelte.ts';
import { Loadable } from './loadable.svelte.ts';

/** Fields of the form for a new account. */
export interface NewAccountFields {
  readonly name: string;
  readonly kind: AccountKind;
  readonly role: Role;
  readonly password: string;
  readonly description: string;
}

type Change = Partial<Pick<Account, 'role' | 'enabled' | 'description' | 'grants'>> & { readonly password?: string };

/** Delay in ms that combines bursts of changes, such as an import of accounts, into one reload. */
const batchDelayMs = 150;

/** Accounts and the grants that apply without an account. */
class Accounts extends Loadable {
  list = $state.raw<readonly Account[]>([]);
  defaultGrants = $state.raw<readonly Grant[]>([]);
  /** Running removal; its event often arrives before its response. */
  #removal: Promise<unknown> = Promise.resolve();

  constructor() {
    super();
    const reload = (): void => {
      if (this.phase !== 'loading') void this.load();
    };
    live.onReset(reload);
    this.onChange(reload);
  }

  /** Calls the listener when accounts, tokens or grants change. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live.on(accessChanged, () => {
      clearTimeout(timer);
      timer = setTimeout(() => void notify(), batchDelayMs);
    });
    let isStopped = false;
    // Waits until the page of a removed account is unmounted, so that it does not request the account again.
    const notify = async (): Promise<void> => {
      await this.#removal;
      await tick();
      if (!isStopped) listener();
    };
    return () => {
      isStopped = true;
      clearTimeout(timer);
      stop();
    };
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => Promise.all([call(controlApi.accounts), call(accessApi.anyone)]),
      ([{ accounts }, { grants }]) => {
        this.list = accounts;
        this.defaultGrants = grants;
      },
    );
  }

  find(name: string): Account | undefined {
    return this.list.find((account) => account.name === name);
  }

  /**
   * Creates an account.
   *
   * @throws {Problem} With `fields` for invalid input.
   */
  async create({ name, kind, role, password, description }: NewAccountFields): Promise<Account> {
    const body = { name, kind, role, description, ...(password === '' ? {} : { password }) };
    const account = await call(controlApi.createAccount, { body });
    this.#store(account);
    return account;
  }

  async change(name: string, change: Change): Promise<void> {
    this.#store(await call(controlApi.changeAccount, { params: { name }, body: change }));
  }

  async changeDefaultGrants(grants: readonly Grant[]): Promise<void> {
    this.defaultGrants = (await call(accessApi.changeAnyone, { body: { grants: [...grants] } })).grants;
  }

  /** Lists the data of the account in the running services. */
  async getData(name: string) {
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

  /** Checks a permission on the host; an empty `account` checks access without an account. */
  async checkAccess(account: string, service: string, permission: 'read' | 'write', resource: string) {
    const query = { service, permission, resource, ...(account === '' ? {} : { account }) };
    return call(accessApi.check, { query });
  }

  /**
   * Changes the password of the signed-in account.
   *
   * @throws {Problem} With `fields`, including `current`.
   */
  async changeOwnPassword(current: string, password: string): Promise<void> {
    await renewSession(() => call(ownAccountApi.changePassword, { body: { current, password }, isRenewal: true }));
  }

  #store(account: Account): void {
    const others = this.list.filter(({ name }) => name !== account.name);
    this.list = [...others, account].toSorted((a, b) => a.createdAt - b.createdAt || compareNames(a.name, b.name));
  }
}

export const accounts = new Accounts();
