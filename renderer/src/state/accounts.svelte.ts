import { accessApi } from '../../../services/contracts/access.ts';
import type { Account, AccountKind, AccessToken, Grant, Role } from '../../../services/contracts/accounts.ts';
import { controlApi } from '../../../services/contracts/control.ts';
import { call, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';

/** What a person types to make an account. */
export interface NewAccountFields {
  readonly name: string;
  readonly kind: AccountKind;
  readonly role: Role;
  readonly password: string;
  readonly description: string;
}

type Change = Partial<Pick<Account, 'role' | 'enabled' | 'description' | 'grants'>> & { readonly password?: string };

/** People and service accounts, and what anyone may do. */
class Accounts {
  list = $state.raw<readonly Account[]>([]);
  anyone = $state.raw<readonly Grant[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  trouble = $state('');
  /** Removed a moment ago; the removal can still be taken back. */
  leaving = $state.raw<ReadonlySet<string>>(new Set());

  readonly shown = $derived(this.list.filter(({ name }) => !this.leaving.has(name)));

  constructor() {
    live.onReset(() => {
      if (this.phase !== 'loading') void this.load();
    });
  }

  async load(): Promise<void> {
    try {
      const [{ accounts }, { grants }] = await Promise.all([call(controlApi.accounts), call(accessApi.anyone)]);
      this.list = accounts;
      this.anyone = grants;
      this.phase = 'ready';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  find(name: string): Account | undefined {
    return this.shown.find((account) => account.name === name);
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

  /** Switches the account off at once and hides it; {@link remove} or {@link keep} decides. */
  async leave(name: string): Promise<void> {
    await this.change(name, { enabled: false });
    this.leaving = new Set([...this.leaving, name]);
  }

  /** Takes back {@link leave}. `enabled`: as it was before. */
  async keep(name: string, enabled: boolean): Promise<void> {
    this.leaving = new Set([...this.leaving].filter((each) => each !== name));
    if (enabled) await this.change(name, { enabled });
  }

  async remove(name: string): Promise<void> {
    await call(controlApi.removeAccount, { params: { name } });
    this.list = this.list.filter((account) => account.name !== name);
    this.leaving = new Set([...this.leaving].filter((each) => each !== name));
  }

  async tokens(name: string): Promise<readonly AccessToken[]> {
    return (await call(controlApi.tokens, { params: { name } })).tokens;
  }

  /** `text` is in this answer only. */
  async createToken(
    name: string,
    label: string,
    expiresAt: number | null,
  ): Promise<{ readonly token: AccessToken; readonly text: string }> {
    return call(controlApi.createToken, { params: { name }, body: { label, expiresAt } });
  }

  async revoke(name: string, id: string): Promise<void> {
    await call(controlApi.removeToken, { params: { name, id } });
  }

  async may(account: string, service: string, permission: 'read' | 'write', resource: string) {
    const query = { service, permission, resource, ...(account === '' ? {} : { account }) };
    return call(accessApi.check, { query });
  }

  #take(account: Account): void {
    const others = this.list.filter(({ name }) => name !== account.name);
    this.list = [...others, account].toSorted((a, b) => a.createdAt - b.createdAt || a.name.localeCompare(b.name));
  }
}

export const accounts = new Accounts();
