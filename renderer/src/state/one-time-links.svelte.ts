import { oneTimeLinkApi } from '../../../services/contracts/control/one-time-link-routes.ts';
import type { NewInvitation, OneTimeLink } from '../../../services/contracts/control/one-time-links.ts';
import { call } from '../api/call.ts';
import { accounts } from './accounts.svelte.ts';
import { live } from './live.svelte.ts';
import { Loadable } from './loadable.svelte.ts';

/** New link with its addresses, which contain the token and are not available later. */
export interface NewLink {
  readonly link: OneTimeLink;
  readonly urls: readonly string[];
}

/** Unused invitations and password links. */
class OneTimeLinks extends Loadable {
  list = $state.raw<readonly OneTimeLink[]>([]);

  constructor() {
    super();
    const reload = (): void => {
      if (this.phase !== 'loading') void this.load();
    };
    // Events may have been missed during an interruption.
    live.onReset(reload);
    // Each new, used or revoked link changes an account.
    accounts.onChange(reload);
  }

  async load(): Promise<void> {
    await this.readLatest(
      () => call(oneTimeLinkApi.list),
      ({ links }) => (this.list = links),
    );
  }

  /** @throws Problem with `fields` for invalid input */
  async invite(invitation: NewInvitation): Promise<NewLink> {
    return this.#add(await call(oneTimeLinkApi.invite, { body: invitation }));
  }

  /** Creates a link that sets a new password; an earlier one of the account stops working. */
  async createReset(name: string, removesSecondFactor: boolean): Promise<NewLink> {
    const created = await call(oneTimeLinkApi.reset, { params: { name }, body: { removesSecondFactor } });
    this.list = this.list.filter(({ kind, account }) => kind !== 'reset' || account !== name);
    return this.#add(created);
  }

  async revoke(id: string): Promise<void> {
    await call(oneTimeLinkApi.revoke, { params: { id } });
    this.list = this.list.filter((link) => link.id !== id);
  }

  #add(created: NewLink): NewLink {
    this.list = [created.link, ...this.list];
    return created;
  }
}

export const oneTimeLinks = new OneTimeLinks();
