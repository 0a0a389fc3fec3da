import type { Accounts, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseTopicAddress, type TopicAddresses } from '../domain/topic-address.ts';
import type { Sender } from './sign-in.ts';
import { Refusal } from '../smtp/refusal.ts';

/** Mail to a topic's own address, by the token in it or by who signed in, as the push server would take a message. */
export class TopicMail {
  readonly #accounts: Accounts;
  readonly #addresses: () => TopicAddresses;

  constructor(accounts: Accounts, addresses: () => TopicAddresses) {
    this.#accounts = accounts;
    this.#addresses = addresses;
  }

  /** Whether there are such addresses. */
  get enabled(): boolean {
    return this.#addresses().domain !== '';
  }

  /**
   * The address without its token; undefined when it is none of a topic.
   *
   * @throws Refusal 550 for who may not publish there, 451 while it cannot be told
   */
  async admit(address: string, sender: Sender | undefined, remoteAddress: string): Promise<string | undefined> {
    const found = parseTopicAddress(address, this.#addresses());
    if (found === undefined) return undefined;
    const { topic, token } = found;
    let identity: Identity | undefined;
    if (token !== undefined) identity = await this.#identityOf(token, remoteAddress);
    // Logins may send to every recipient.
    else if (sender !== undefined && 'login' in sender) return found.address;
    else identity = sender?.identity;
    if (this.#accounts.may(identity, 'push', 'write', topic)) return found.address;
    throw new Refusal(550, '5.7.1 Not allowed to publish to this topic; put a token behind it, as in topic+tk_…');
  }

  async #identityOf(token: string, remoteAddress: string): Promise<Identity | undefined> {
    try {
      return await this.#accounts.authenticate({ authorization: `Bearer ${token}`, remoteAddress });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) throw new Refusal(550, '5.7.1 The token in the address is not valid');
      throw new Refusal(451, '4.7.0 Too many attempts or a temporary failure, try again later');
    }
  }
}
