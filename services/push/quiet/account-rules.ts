import { pushPopupRules, PushRuleEvaluator, type PushPopupRules } from '../../contracts/push/rules.ts';
import type { PushQuiet } from '../../contracts/push/quiet.ts';
import type { Context } from '../../contracts/service.ts';
import type { QuietStore } from '../store/quiet.ts';

/** Returns the rules while no account controls the popups of this computer: only topics that administrators muted. */
function buildMuteRules(administrators: readonly PushQuiet[]): PushPopupRules {
  return { rules: [], zone: null, follows: null, muted: administrators.flatMap(({ muted }) => muted) };
}

/** Quiet-hours rules of all accounts, kept in memory because they are evaluated for each message. */
export class AccountRules {
  readonly #context: Pick<Context, 'accounts' | 'bus'>;
  readonly #store: QuietStore;
  #rules: ReadonlyMap<string, { readonly quiet: PushQuiet; readonly judge: PushRuleEvaluator }> = new Map();
  #publishedRules: string | undefined;
  #popupAccount: string | null = null;

  constructor(context: Pick<Context, 'accounts' | 'bus'>, store: QuietStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Returns undefined for accounts without rules: all messages reach them immediately. */
  judge(account: string): PushRuleEvaluator | undefined {
    return this.#rules.get(account)?.judge;
  }

  /** Returns undefined for accounts that have not saved rules. */
  quiet(account: string): PushQuiet | undefined {
    return this.#rules.get(account)?.quiet;
  }

  /** Account whose rules apply to the popups of this computer; null without one. */
  get popupAccount(): string | null {
    return this.#popupAccount;
  }

  /** Reloads the rules. Judges of unchanged rules are reused. */
  async load(): Promise<void> {
    const stored = await this.#store.accountRules();
    this.#rules = new Map(
      stored.map(({ account, quiet }) => {
        const existing = this.#rules.get(account);
        const isUnchanged = existing !== undefined && JSON.stringify(existing.quiet) === JSON.stringify(quiet);
        return [account, isUnchanged ? existing : { quiet, judge: new PushRuleEvaluator(quiet) }];
      }),
    );
    await this.#publishPopupRules();
  }

  /** Accounts that are no longer administrators, disabled or deleted no longer control the popups. */
  async #publishPopupRules(): Promise<void> {
    const [owner] = [...this.#rules].find(([, { quiet }]) => quiet.popups) ?? [];
    const account = owner === undefined ? undefined : await this.#context.accounts.find(owner);
    const quiet = account?.role === 'admin' && account.enabled ? this.quiet(account.name) : undefined;
    this.#popupAccount = quiet === undefined ? null : (owner ?? null);
    const popupRules: PushPopupRules =
      quiet === undefined
        ? buildMuteRules(await this.#listAdministratorRules())
        : { rules: [...quiet.rules], zone: quiet.zone, muted: [...quiet.muted], follows: this.#popupAccount };
    const text = JSON.stringify(popupRules);
    if (text !== this.#publishedRules) this.#context.bus.publish(pushPopupRules, popupRules);
    this.#publishedRules = text;
  }

  /** Returns the rules of enabled administrators, who use this computer. */
  async #listAdministratorRules(): Promise<readonly PushQuiet[]> {
    const entries = [...this.#rules].filter(([, { quiet }]) => quiet.muted.length > 0);
    const candidates = await Promise.all(
      entries.map(async ([name, { quiet }]) => ({ quiet, account: await this.#context.accounts.find(name) })),
    );
    return candidates.flatMap(({ quiet, account }) => (account?.role === 'admin' && account.enabled ? [quiet] : []));
  }
}
