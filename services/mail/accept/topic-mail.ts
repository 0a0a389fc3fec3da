import type { Accounts, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseTopicAddress, type TopicAddressOptions } from '../domain/topic-address.ts';
import type { Sender } from './sign-in.ts';
import { Refusal } from './refusal.ts';

/**
 * Accepts mail to topic addresses, authorized by the token in the address or the signed-in sender, with push
 * permissions.
 */
export class TopicMail {
  readonly #accounts: Accounts;
  readonly #addresses: () => TopicAddressOptions;

  constructor(accounts: Accounts, addresses: () => TopicAddressOptions) {
    this.#accounts = accounts;
    this.#addresses = addresses;
  }

  /** True when topic addresses are configured. */
  get enabled(): boolean {
    return this.#addresses().domain !== '';
  }

  /**
   * Returns the address without its token; undefined for other addresses.
   *
   * @throws Refusal 550 when publishing is not permitted, 451 when this cannot be determined
   */
  async admit(address: string, sender: Sender | undefined, remoteAddress: string): Promise<string | undefined> {
    const topicAddress = parseTopicAddress(address, this.#addresses());
    if (topicAddress === undefined) return undefined;
    const { topic, token } = topicAddress;
    let identity: Identity | undefined;
    if (token !== undefined) identity = await this.#authenticateToken(token, remoteAddress);
    // Logins may send to every recipient.
    else if (sender !== undefined && 'login' in sender) return topicAddress.address;
    else identity = sender?.identity;
    if (this.#accounts.may(identity, 'push', 'write', topic)) return topicAddress.address;
    throw new Refusal(550, '5.7.1 Not allowed to publish to this topic; put a token behind it, as in topic+tk_…');
  }

  async #authenticateToken(token: string, remoteAddress: string): Promise<Identity | undefined> {
    try {
      return await this.#accounts.authenticate({ authorization: `Bearer ${token}`, remoteAddress });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) throw new Refusal(550, '5.7.1 The token in the address is not valid');
      throw new Refusal(451, '4.7.0 Too many attempts or a temporary failure, try again later');
    }
  }
}
