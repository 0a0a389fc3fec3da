import { pushPopupRules, PushJudge, type PushPopupRules } from '../../contracts/push/rules.ts';
import type { PushQuiet } from '../../contracts/push/quiet.ts';
import type { Context } from '../../contracts/service.ts';
import type { QuietStore } from '../store/quiet.ts';

const none: PushPopupRules = { rules: [], zone: null, follows: null };

/** Everyone's rules, kept at hand: they are asked for each message. */
export class People {
  readonly #context: Pick<Context, 'accounts' | 'bus'>;
  readonly #store: QuietStore;
  #rules: ReadonlyMap<string, { readonly quiet: PushQuiet; readonly judge: PushJudge }> = new Map();
  #told: string | undefined;
  #followed: string | null = null;

  constructor(context: Pick<Context, 'accounts' | 'bus'>, store: QuietStore) {
    this.#context = context;
    this.#store = store;
  }

  /** Undefined for who has no rules: everything reaches them at once. */
  judge(account: string): PushJudge | undefined {
    return this.#rules.get(account)?.judge;
  }

  /** Undefined for who has set nothing yet. */
  quiet(account: string): PushQuiet | undefined {
    return this.#rules.get(account)?.quiet;
  }

  /** Whose rules the machine's popups follow; null: nobody's. */
  get followed(): string | null {
    return this.#followed;
  }

  /** Reads the rules anew; what has not changed stays ready. */
  async load(): Promise<void> {
    const people = await this.#store.accountRules();
    this.#rules = new Map(
      people.map(({ account, quiet }) => {
        const known = this.#rules.get(account);
        const same = known !== undefined && JSON.stringify(known.quiet) === JSON.stringify(quiet);
        return [account, same ? known : { quiet, judge: new PushJudge(quiet) }];
      }),
    );
    await this.#tellPopups();
  }

  /** Who was made a user, switched off or removed decides no more about the machine's popups. */
  async #tellPopups(): Promise<void> {
    const [owner] = [...this.#rules].find(([, { quiet }]) => quiet.popups) ?? [];
    const account = owner === undefined ? undefined : await this.#context.accounts.find(owner);
    const quiet = account?.role === 'admin' && account.enabled ? this.quiet(account.name) : undefined;
    this.#followed = quiet === undefined ? null : (owner ?? null);
    const told: PushPopupRules =
      quiet === undefined ? none : { rules: [...quiet.rules], zone: quiet.zone, follows: this.#followed };
    const text = JSON.stringify(told);
    if (text !== this.#told) this.#context.bus.publish(pushPopupRules, told);
    this.#told = text;
  }
}
